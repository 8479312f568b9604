/** What a door of the control plane refused or could not do, in the words of its answer. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number | null;
  /** Further fields of the answer for programs, such as the fact that has moved. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    status: number | null = null,
    facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.status = status;
    this.facts = facts;
  }
}

export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'unauthenticated';
}

/** An error to which asking again is no answer. */
export function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status !== null && error.status < 500;
}

/** A refusal of what the user may not do. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'forbidden' || error.status === 403);
}
