import type { TypedDocumentString } from '@/gql/operations';
import { ApiError } from './api-error';
import { readJson, send } from './http';

/** A field that could not be answered while the rest could. */
export type Problem = { code: string; message: string; path: string };

/** What a query answered, and which parts of it are missing and why. */
export type Answer<T> = { data: T; problems: Problem[] };

type WireError = {
  message: string;
  path?: (string | number)[];
  extensions?: { code?: string } & Record<string, unknown>;
};
type WireAnswer<T> = { data?: T | null; errors?: WireError[] };

/** Why a field is null, where that is because it could not be read and not because there is none. */
export function findUnread<T>(answer: Answer<T>, field: keyof T & string): ApiError | undefined {
  if (answer.data[field] !== null) return undefined;
  const problem = answer.problems.find(({ path }) => path.split('.')[0] === field);
  // With the status of an answer: it was given, and asking again at once would get the same.
  return problem && new ApiError(problem.code, problem.message, 200);
}

/**
 * Refuses an answer whose field could not be read. An answer that merely lacks it would take the
 * place of what is known, and read as though the thing were gone.
 */
export function demand<T>(answer: Answer<T>, field: keyof T & string): Answer<T> {
  const unread = findUnread(answer, field);
  if (unread) throw unread;
  return answer;
}

/**
 * Takes the part at `path` out of an answer. A problem of reading that part is filed under `name`:
 * a part that could not be read differs from a part that is not there.
 */
export function take<K extends string, T, U>(
  answer: Answer<T>,
  name: K,
  path: string,
  pick: (data: T) => U | null | undefined,
): Answer<Record<K, U | null>> {
  const problems = answer.problems.map((problem) => {
    const isWithin = problem.path === path || problem.path.startsWith(`${path}.`);
    if (isWithin) return { ...problem, path: name + problem.path.slice(path.length) };
    return path.startsWith(`${problem.path}.`) ? { ...problem, path: name } : problem;
  });
  return { data: { [name]: pick(answer.data) ?? null } as Record<K, U | null>, problems };
}

export function operationName(document: string): string {
  return /\b(?:query|mutation|subscription)\s+(\w+)/.exec(document)?.[1] ?? '';
}

function problemOf(error: WireError): Problem {
  return {
    code: error.extensions?.code ?? 'internal',
    message: error.message,
    path: (error.path ?? []).join('.'),
  };
}

/** Asks the GraphQL door; an answer with data and errors is partial, one without data is an error. */
export async function ask<TResult, TVariables>(
  document: TypedDocumentString<TResult, TVariables>,
  variables: TVariables,
  signal?: AbortSignal,
): Promise<Answer<TResult>> {
  const query = document.toString();
  const response = await send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query, variables, operationName: operationName(query) }),
    ...(signal ? { signal } : {}),
  });
  if (response.status === 401) {
    throw new ApiError('unauthenticated', 'The session has ended.', 401);
  }
  const answer = (await readJson(response)) as WireAnswer<TResult>;
  const problems = (answer.errors ?? []).map(problemOf);
  const first = problems[0];
  if (answer.data === null || answer.data === undefined || first?.code === 'unauthenticated') {
    const facts = answer.errors?.[0]?.extensions ?? {};
    throw new ApiError(
      first?.code ?? 'internal',
      first?.message ?? 'No data.',
      response.status,
      facts,
    );
  }
  return { data: answer.data, problems };
}
