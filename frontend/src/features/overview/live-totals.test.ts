import { expect, test } from 'vitest';
import { notCollected, value } from '@/lib/reading';
import { aSample } from '@/testing/builders';
import { liveTotals } from './live-totals';

const now = Date.parse('2026-03-01T12:01:00Z');
const fresh = '2026-03-01T12:00:58Z';
const old = '2026-03-01T12:00:10Z';

test('a silent broker no longer counts while others speak', () => {
  const silent = aSample({
    brokerGroupName: 'broker-b',
    observedAt: old,
    messagesInPerSecond: 100,
  });

  const totals = liveTotals([aSample({ observedAt: fresh }), silent], now);

  expect(totals.in).toEqual({ reading: value(10), counted: 1, total: 1 });
  expect(totals.observedAtMs).toBe(Date.parse(fresh));
});

test('a message counts once as taken in, however many replicas copy it', () => {
  const replica = { brokerId: '2', messagesInPerSecond: 10, messagesOutPerSecond: 5 };

  const totals = liveTotals(
    [aSample({ observedAt: fresh }), aSample({ observedAt: fresh, ...replica })],
    now,
  );

  expect(totals.in.reading).toEqual(value(10));
  expect(totals.out.reading).toEqual(value(25));
});

test('when all are silent the last figures stay with their age', () => {
  const totals = liveTotals([aSample({ observedAt: old })], now);

  expect(totals.in.reading).toEqual(value(10));
  expect(totals.observedAtMs).toBe(Date.parse(old));
});

test('without any sample nothing was collected', () => {
  expect(liveTotals([], now).in.reading).toEqual(notCollected);
});

test('a former master is not counted beside its successor', () => {
  // Case B2: each keeps its own last sample under its own name.
  const former = aSample({ brokerName: 'broker-a-1', observedAt: '2026-03-01T12:00:55Z' });
  const master = aSample({ brokerName: 'broker-a-2', observedAt: fresh, messagesInPerSecond: 7 });

  expect(liveTotals([former, master], now).in.reading).toEqual(value(7));
});
