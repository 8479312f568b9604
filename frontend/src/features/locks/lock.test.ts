import { expect, test } from 'vitest';
import { agedMs, leftMs, pauseTone } from './lock';

const observedAt = '2026-03-01T12:00:00Z';
const nowMs = Date.parse(observedAt) + 5_000;

test('ages grow and what is left runs out from the time of the report', () => {
  expect(agedMs('1000', observedAt, nowMs)).toBe(6_000);
  expect(leftMs('12000', observedAt, nowMs)).toBe(7_000);
  expect(leftMs('4000', observedAt, nowMs)).toBe(0);
});

test('a clock that is behind makes nothing younger', () => {
  expect(agedMs('1000', observedAt, nowMs - 60_000)).toBe(1_000);
  expect(leftMs('4000', observedAt, nowMs - 60_000)).toBe(4_000);
});

test('what is not known is neither paused nor read', () => {
  expect(pauseTone({ isPaused: null, cause: 'UNKNOWN' })).toBe('unknown');
  expect(pauseTone({ isPaused: true, cause: 'HOLDER_GONE' })).toBe('bad');
  expect(pauseTone({ isPaused: false, cause: 'NOTHING_TO_DO' })).toBe('idle');
  expect(pauseTone({ isPaused: false, cause: 'BEING_READ' })).toBe('good');
});
