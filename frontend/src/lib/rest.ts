import { ApiError } from './api-error';
import { readJson, send } from './http';

/** A problem document (RFC 9457), as far as it is read here. */
type Problem = { code?: string; detail?: string };

async function refusal(response: Response): Promise<ApiError> {
  const fallback = response.status === 401 ? 'unauthenticated' : 'internal';
  try {
    const body = (await response.json()) as Problem;
    const code = body.code ?? fallback;
    return new ApiError(code, body.detail ?? response.statusText, response.status);
  } catch {
    return new ApiError(fallback, response.statusText, response.status);
  }
}

/** Calls the REST door; `undefined` stands for an answer without a body. */
export async function callRest<T>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await send(`/api/v1${path}`, {
    method,
    ...(signal ? { signal } : {}),
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  if (!response.ok) throw await refusal(response);
  if (response.status === 204) return undefined as T;
  return (await readJson(response)) as T;
}
