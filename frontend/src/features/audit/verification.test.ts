import { expect, test } from 'vitest';
import { headlineOf } from './entry-words';
import { joinParts, type Verification } from './verification';

const part: Verification = {
  checkedCount: 20_000,
  isComplete: false,
  endNumber: '20000',
  endHash: 'ab',
  brokenNumber: null,
  reason: null,
};

test('parts of the chain are counted together, and the newest says where it ends', () => {
  const whole = joinParts(part, { ...part, checkedCount: 3, isComplete: true, endNumber: '20003' });

  expect(whole).toMatchObject({ checkedCount: 20_003, isComplete: true, endNumber: '20003' });
  expect(joinParts(undefined, part)).toEqual(part);
});

test('an entry is summed up by its most important fact', () => {
  expect(headlineOf({ plan_hash: 'ab', reason: 'planned work' })).toEqual({
    name: 'reason',
    text: 'planned work',
  });
  expect(headlineOf({ outcome: 'read back as intended', reason: null })).toEqual({
    name: 'outcome',
    text: 'read back as intended',
  });
  expect(headlineOf({ fence: 2 })).toBeUndefined();
  expect(headlineOf('unreadable')).toBeUndefined();
});
