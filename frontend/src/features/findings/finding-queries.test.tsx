import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setStreamState } from '@/lib/live/stream-state';
import { stubControlPlane } from '@/testing/control-plane';
import { findingPage } from '@/testing/finding-builders';
import { findingsOf } from './finding-queries';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  setStreamState({ kind: 'connecting' });
});

/** How often findings are asked for while their page is open that long and nothing is heard. */
async function callCountIn(spanMs: number): Promise<number> {
  const { calls } = stubControlPlane({ answers: { Findings: () => findingPage([]) } });
  const observer = new QueryObserver(new QueryClient(), findingsOf('regent', 'open', undefined));
  const close = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(spanMs);
  close();
  return calls.length;
}

test('findings are asked for again and again while the stream is cut', async () => {
  setStreamState({ kind: 'reconnecting', sinceMs: Date.now() });

  expect(await callCountIn(16_000)).toBeGreaterThan(2);
});

test('findings with events are requested again only if the stream fails', async () => {
  setStreamState({ kind: 'live' });

  expect(await callCountIn(16_000)).toBe(1);
  expect(await callCountIn(61_000)).toBe(2);
});
