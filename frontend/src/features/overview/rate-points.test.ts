import { expect, test } from 'vitest';
import type { RatePoint } from '@/lib/live/sample-history';
import { joinPoints, pastPoints } from './rate-points';

const startMs = Date.parse('2026-03-01T12:00:00Z');

function point(seconds: number, rate: number | null) {
  return { atMs: startMs + seconds * 1_000, in: rate, out: rate };
}

test('what was kept comes before what this console heard, and not twice', () => {
  const past = [point(-9, 1), point(-4, 2), point(1.5, 3), point(6.5, 4)];

  expect(joinPoints(past, [point(0, 30), point(5, 40)], 'recent')).toEqual([
    point(-10, 1),
    point(-5, 2),
    point(0, 3),
    point(5, 40),
  ]);
});

test('a round of which this console heard a part takes no place of one that was kept', () => {
  const heard = [point(0, 10), point(5, 40), { ...point(10, null) }, point(20, 10), point(25, 40)];
  const kept = [0, 5, 20, 25].map((seconds) => point(seconds, 30));
  const rates = (past: RatePoint[]) =>
    joinPoints(past, heard, 'recent').map(({ in: rate }) => rate);

  expect(rates(kept)).toEqual([30, 40, null, 30, 40]);
  expect(rates(kept.map((one) => ({ ...one, in: null, out: null })))).toEqual([
    10,
    40,
    null,
    10,
    40,
  ]);
});

test('what was kept fills the time in which this console heard nothing', () => {
  const heard = [point(0, 1), { ...point(5, null) }, point(20, 4)];

  expect(
    joinPoints([point(5, 2), point(11, 3)], heard, 'recent').map(({ in: rate }) => rate),
  ).toEqual([1, 2, 3, 4]);
});

test('time without observation is a gap and not zero', () => {
  const recent = joinPoints([point(0, 1), point(15, 2)], [], 'recent');
  const day = joinPoints([point(0, 1), point(600, 2), point(1_500, 3)], [], 'day');

  expect(recent.map(({ in: rate }) => rate)).toEqual([1, null, 2]);
  expect(day.map(({ in: rate }) => rate)).toEqual([1, 2, null, 3]);
});

test('an unknown rate stays in its place', () => {
  expect(joinPoints([point(0, null), point(5, 2)], [], 'recent')).toEqual([
    point(0, null),
    point(5, 2),
  ]);
});

test('only the span is shown', () => {
  const past = Array.from({ length: 500 }, (_, index) => point(5 * index, index));

  const points = joinPoints(past, [], 'recent');

  expect(points).toHaveLength(360);
  expect(points.at(-1)).toEqual(point(5 * 499, 499));
  expect(joinPoints([], [], 'day')).toEqual([]);
});

test('an answer that is not there yet is no point', () => {
  const rates = [
    { observedAt: '2026-03-01T12:00:00Z', messagesInPerSecond: 1, messagesOutPerSecond: null },
  ];

  expect(pastPoints(undefined)).toEqual([]);
  expect(pastPoints({ rates })).toEqual([{ atMs: startMs, in: 1, out: null }]);
});
