// The debug adapter protocol, as far as it is spoken here.

export interface Request {
  seq: number;
  type: "request";
  command: string;
  arguments?: Record<string, unknown>;
}

export interface Response {
  type: "response";
  request_seq: number;
  command: string;
  success: boolean;
  message?: string;
  body?: unknown;
}

export interface Event {
  type: "event";
  event: string;
  body?: unknown;
}
