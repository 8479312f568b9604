import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { send } from './http';

const deadline = new AbortController();

beforeEach(() => {
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal);
  // A control plane that holds the connection and says nothing.
  vi.stubGlobal(
    'fetch',
    (_path: string, { signal }: RequestInit) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  );
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test('an aborted request reports the abort, and not a missing answer', async () => {
  const asker = new AbortController();
  const asked = send('/graphql', { signal: asker.signal });

  asker.abort();

  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
});

test('a control plane that says nothing in time is out of reach', async () => {
  const asked = send('/graphql', { signal: new AbortController().signal });

  deadline.abort(new DOMException('too late', 'TimeoutError'));

  await expect(asked).rejects.toMatchObject({ code: 'unreachable' });
});
