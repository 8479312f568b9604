import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { routesChanged } from '@/lib/live/heeds';
import { setStreamState } from '@/lib/live/stream-state';
import { stubControlPlane } from '@/testing/control-plane';
import { anOperation, aRunningOperation } from '@/testing/operation-builders';
import type { Operation } from './operation';
import { operationFactsOf } from './operation-queries';

beforeEach(() => {
  vi.useFakeTimers();
  setStreamState({ kind: 'live' });
});
afterEach(() => {
  vi.useRealTimers();
  setStreamState({ kind: 'connecting' });
});

/** How often the facts are compared while the page is open that long and nothing is heard. */
async function comparisonsOf(operation: Operation, spanMs: number): Promise<number> {
  const { calls } = stubControlPlane();
  const observer = new QueryObserver(new QueryClient(), operationFactsOf(operation));
  const close = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(spanMs);
  close();
  return calls.length;
}

test('the facts of a plan are compared now and then while the stream is silent', async () => {
  expect(await comparisonsOf(anOperation(), 45_000)).toBe(3);
});

test('the facts of what is carried out are not compared any more', async () => {
  expect(await comparisonsOf(aRunningOperation(), 45_000)).toBe(0);
});

test('the facts of a plan are compared when a topic it names has become another', () => {
  const { meta } = operationFactsOf(anOperation({ target: 'orders' }));
  const changed = { ...routesChanged('regent'), kind: 'topic.changed', subject: 'broker-z' };

  expect(meta?.heeds?.({ ...changed, details: { topics: ['orders'] } })).toBe(true);
  expect(meta?.heeds?.({ ...changed, details: { topics: ['bills'] } })).toBe(false);
});
