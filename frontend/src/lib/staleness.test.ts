import { expect, test } from 'vitest';
import { stalenessOf } from './staleness';

test('an answer is stale once it is older than its limit', () => {
  const asked = { dataUpdatedAt: 10_000, error: null };

  expect(stalenessOf(asked, 4_000, 14_000)).toEqual({ isStale: false, ageMs: 4_000 });
  expect(stalenessOf(asked, 4_000, 14_001)).toEqual({ isStale: true, ageMs: 4_001 });
});

test('an answer after which one failed is stale at once', () => {
  const asked = { dataUpdatedAt: 10_000, error: new Error('out of reach') };

  expect(stalenessOf(asked, 4_000, 10_200)).toEqual({ isStale: true, ageMs: 200 });
});

test('an answer that heeds the stream is known for as long as that was heard', () => {
  const asked = { dataUpdatedAt: 10_000, error: null };

  expect(stalenessOf(asked, 4_000, 60_000, 59_000)).toEqual({ isStale: false, ageMs: 1_000 });
  expect(stalenessOf(asked, 4_000, 60_000, 20_000)).toEqual({ isStale: true, ageMs: 40_000 });
});

test('an answer that could not be asked for anew is as old as it is, whatever was heard', () => {
  const asked = { dataUpdatedAt: 10_000, error: new Error('out of reach') };

  expect(stalenessOf(asked, 4_000, 60_000, 59_000)).toEqual({ isStale: true, ageMs: 50_000 });
});
