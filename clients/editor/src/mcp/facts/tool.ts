// What a tool is, and what each is given.
import { z } from "zod";
import type { SamplesKind } from "../../../../web/src/wire/protocol";
import type { Answer, Value } from "./answer";
import { KIND, type Look, lookAt, type Part, PART } from "./look";
import { type Current, OpenSources } from "./opened";
import type { Source, Sources } from "./sources";

export interface Context {
  sources: Sources;
  open: OpenSources;
}

export interface Tool<Input extends z.ZodRawShape = z.ZodRawShape> {
  name: string;
  title: string;
  description: string;
  input: Input;
  answer(args: z.infer<z.ZodObject<Input>>, context: Context): Promise<Answer>;
}

/** Keeps the types of the arguments. */
export const tool = <Input extends z.ZodRawShape>(one: Tool<Input>): Tool => one as unknown as Tool;

export const SOURCE = {
  source: z.string().optional().describe("an id out of list_sources; may be left out where there is one only"),
};
export const OF_SAMPLES = { ...SOURCE, ...KIND, ...PART };

export interface Asked extends Part {
  source?: string;
  kind?: SamplesKind;
}

export interface Opened extends Current {
  source: Source;
}

export async function opened(id: string | undefined, { sources, open }: Context): Promise<Opened> {
  const source = await sources.pick(id);
  return { ...(await open.use(source)), source };
}

export interface LookOf extends Look {
  current: Opened;
}

export async function look(asked: Asked, context: Context): Promise<LookOf> {
  const current = await opened(asked.source, context);
  return { ...(await lookAt(current, asked, asked.kind)), current };
}

export const told = ({ source }: Pick<Opened, "source">): Record<string, Value> => ({ source: source.id });
