import { expect, test } from 'vitest';
import type { Heard } from '@/lib/live/heeds';
import { anOperation, aPlan, operationId } from '@/testing/operation-builders';
import { mayMove } from './plan-subjects';

function heard(change: Partial<Heard> = {}): Heard {
  return {
    kind: 'group.master_elected',
    clusterName: 'regent',
    subject: 'broker-a',
    brokerGroupName: 'broker-a',
    operationId: null,
    details: {},
    ...change,
  };
}

const election = anOperation({ target: 'broker-a', plan: aPlan({ preconditions: [] }) });

test('an event of the target may move a fact, one of another group may not', () => {
  expect(mayMove(election, heard())).toBe(true);
  expect(mayMove(election, heard({ kind: 'broker.lost', subject: 'broker-a-2' }))).toBe(true);
  expect(mayMove(election, heard({ subject: 'broker-b', brokerGroupName: 'broker-b' }))).toBe(
    false,
  );
});

test('an event of what the order, the facts or the preconditions name may move one', () => {
  const named = (plan = {}, parameters: unknown = {}) =>
    anOperation({
      target: 'orders',
      plan: aPlan({ preconditions: [], facts: {}, ...plan }),
      parameters,
    });
  const master = [{ name: 'masters', value: 'broker-a 10.0.0.1:10911, broker-b 10.0.0.2:10911' }];

  expect(mayMove(named({}, { broker_groups: ['broker-a'] }), heard())).toBe(true);
  expect(mayMove(named({ facts: { at: [{ broker_group_name: 'broker-a' }] } }), heard())).toBe(
    true,
  );
  expect(mayMove(named({ preconditions: master }), heard())).toBe(true);
  expect(mayMove(named(), heard())).toBe(false);
});

test('an event that names a topic of the plan may move one, in whatever group it lies', () => {
  const change = anOperation({ target: 'orders', plan: aPlan({ preconditions: [], facts: {} }) });
  const changed = (...topics: string[]) =>
    heard({
      kind: 'topic.changed',
      subject: 'broker-z',
      brokerGroupName: 'broker-z',
      details: { topics, topic_count: 1 },
    });

  expect(mayMove(change, changed('bills', 'orders'))).toBe(true);
  expect(mayMove(change, changed('bills'))).toBe(false);
});

test("neither its own events nor others' plans move anything", () => {
  expect(mayMove(election, heard({ kind: 'step.done', operationId }))).toBe(false);
  expect(mayMove(election, heard({ kind: 'operation.planned', operationId: 'another' }))).toBe(
    false,
  );
  expect(mayMove(election, heard({ kind: 'operation.done', operationId: 'another' }))).toBe(true);
});
