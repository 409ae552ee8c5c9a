// What a user is told in words: what was wrong, and what to do.

export class Problem extends Error {}

export const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
