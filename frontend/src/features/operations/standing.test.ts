import { expect, test } from 'vitest';
import type { OperationState } from '@/gql/operations';
import { anOperation, aPlan } from '@/testing/operation-builders';
import { type Operation, operationStates } from './operation';
import { isVoid, standingOf } from './standing';

const now = Date.now();
const unmoved = { moved: null };
const moved = { name: 'master epoch', expected: '17', found: '18' };

test('a plan that nothing speaks against needs no words', () => {
  expect(standingOf(anOperation(), unmoved, now)).toBeUndefined();
  expect(isVoid(anOperation(), unmoved, now)).toBe(false);
});

test('a plan whose fact has moved is void and names it', () => {
  expect(standingOf(anOperation(), { moved }, now)).toMatchObject({
    word: 'moved',
    values: { name: 'master epoch', expected: '17', found: '18' },
    offer: 'REPLAN',
  });
  expect(standingOf(anOperation(), { moved: { ...moved, found: null } }, now)?.word).toBe('gone');
  expect(isVoid(anOperation(), { moved }, now)).toBe(true);
});

test('a plan without a confirmation in time is void', () => {
  const old = anOperation({ expiresAt: new Date(now - 1).toISOString() });

  expect(standingOf(old, unmoved, now)?.word).toBe('expired');
  expect(isVoid(old, unmoved, now)).toBe(true);
});

test('a plan that a check forbids says which and why', () => {
  const block = { name: 'lease', verdict: 'BLOCK', why: 'it runs', stockCode: 2012 } as const;
  const blocked = anOperation({ plan: aPlan({ checks: [block] }) });

  expect(standingOf(blocked, unmoved, now)).toMatchObject({
    word: 'blocked',
    tone: 'bad',
    values: { why: 'it runs' },
  });
});

test('only what is done is praised, and what is unknown has a distinct tone (D21)', () => {
  const toneOf = (state: OperationState) => standingOf(anOperation({ state }), unmoved, now)?.tone;

  expect(operationStates.filter((state) => toneOf(state) === 'good')).toEqual(['DONE']);
  expect(operationStates.filter((state) => toneOf(state) === 'unknown')).toEqual(['UNKNOWN']);
});

test('facts that could not be compared are not called unmoved, and void nothing', () => {
  const unknown = { moved: null, whyUnknown: 'broker-a does not answer' };

  expect(standingOf(anOperation(), unknown, now)).toMatchObject({
    word: 'unchecked',
    tone: 'unknown',
    values: { why: 'broker-a does not answer' },
  });
  expect(isVoid(anOperation(), unknown, now)).toBe(false);
});

test('what is left is planned again where it may not be tried again', () => {
  const offered = (state: OperationState, actions: Operation['actions']) =>
    standingOf(anOperation({ state, actions }), unmoved, now)?.offer;

  for (const state of ['PARTLY', 'UNKNOWN'] as const) {
    expect(offered(state, ['RETRY', 'UNDO', 'REPLAN'])).toBe('RETRY');
    expect(offered(state, ['UNDO', 'REPLAN'])).toBe('REPLAN');
  }
});
