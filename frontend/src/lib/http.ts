import { ApiError } from './api-error';
import { observeServerDate } from './server-clock';

/** A control plane that holds the connection and says nothing is out of reach as well. */
const deadlineMs = 15_000;

/** One request to the control plane; a network failure becomes an error with a code as well. */
export async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  const deadline = AbortSignal.timeout(deadlineMs);
  const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...init, signal });
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === 'AbortError') throw failure;
    throw new ApiError('unreachable', 'The control plane did not answer.');
  }
  observeServerDate(response.headers.get('date'));
  return response;
}

export async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw new ApiError(
      'unreadable',
      `The answer was not JSON (${response.status}).`,
      response.status,
    );
  }
}
