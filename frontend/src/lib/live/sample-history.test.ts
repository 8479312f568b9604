import { expect, test } from 'vitest';
import { aSample } from '@/testing/builders';
import { addToHistory, rateSeries } from './sample-history';

const startMs = Date.parse('2026-03-01T12:00:00Z');

function at(seconds: number, brokerGroupName: string, rate: number | null) {
  const observedAt = new Date(startMs + seconds * 1000).toISOString();
  return aSample({
    observedAt,
    brokerGroupName,
    messagesInPerSecond: rate,
    messagesOutPerSecond: rate,
  });
}

test('the rates of all brokers of an interval are added', () => {
  const history = addToHistory([], [at(0, 'broker-a', 10), at(1, 'broker-b', 5)]);

  expect(rateSeries(history)).toEqual([{ atMs: startMs, in: 15, out: 15 }]);
});

test('a replica adds what it gives out, and not what it copies', () => {
  const observedAt = new Date(startMs).toISOString();
  const replica = aSample({ brokerId: '2', observedAt, messagesOutPerSecond: 1 });
  const history = addToHistory([], [at(0, 'broker-a', 10), replica]);

  expect(rateSeries(history)).toEqual([{ atMs: startMs, in: 10, out: 11 }]);
});

test('a broker sampled just after the interval counts with the one before', () => {
  const history = addToHistory(
    [],
    [at(0, 'broker-a', 10), at(4.9, 'broker-b', 5), at(5, 'broker-a', 11), at(10.1, 'broker-b', 6)],
  );

  expect(rateSeries(history).map((point) => point.in)).toEqual([15, 16, 17]);
});

test('time without samples is a gap and not zero', () => {
  const history = addToHistory([], [at(0, 'broker-a', 10), at(60, 'broker-a', 10)]);

  expect(rateSeries(history).map((point) => point.in)).toEqual([10, null, 10]);
});

test('an unknown rate is not zero and does not hide the known ones', () => {
  const history = addToHistory([], [at(0, 'broker-a', null), at(5, 'broker-a', null)]);
  const mixed = addToHistory([], [at(0, 'broker-a', null), at(0, 'broker-b', 3)]);

  expect(rateSeries(history).map((point) => point.in)).toEqual([null, null]);
  expect(rateSeries(mixed).map((point) => point.in)).toEqual([3]);
});

test('samples out of order find their place and old intervals fall off', () => {
  const samples = Array.from({ length: 400 }, (_, index) => at((399 - index) * 5, 'broker-a', 1));

  const history = addToHistory([], samples);

  expect(history).toHaveLength(360);
  expect(history.at(-1)?.startMs).toBe(startMs + 399 * 5_000);
});
