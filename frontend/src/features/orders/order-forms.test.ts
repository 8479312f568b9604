import { expect, test } from 'vitest';
import { ApiError } from '@/lib/api-error';
import { changeConfig, fieldOfProperty } from './broker-orders';
import { fieldNamed, initialValues, problemOf, problemsOf } from './field';
import { changeGroup } from './group-orders';
import { sendMessage } from './message-orders';
import { resetGroup, resetOffsets } from './offset-orders';
import { adoptReplicas, forgetReplicas } from './replica-group-orders';
import { changeTopic, commonOf, createTopic } from './topic-orders';

const topic = {
  clusterName: 'east',
  name: 'orders',
  placements: ['broker-a', 'broker-b'].map((brokerGroupName, index) => ({
    brokerGroupName,
    readQueueCount: 8 + index,
    writeQueueCount: 8,
    readable: true,
    writable: true,
    isOrdered: false,
  })),
};

test('a new topic needs a name, and says which character it may not hold', () => {
  const kind = createTopic('east', ['broker-a']);
  const values = initialValues(kind.fieldsOf({}));
  const problem = (topicName: string) =>
    problemsOf(kind.fieldsOf({}), { ...values, topicName }).topicName;

  expect(problem('')).toEqual({ word: 'empty', values: {} });
  expect(problem('a b')).toEqual({ word: 'blank', values: {} });
  expect(problem('a/b')).toEqual({ word: 'character', values: { character: '/' } });
  expect(problem('x'.repeat(128))).toEqual({ word: 'long', values: { max: 127 } });
  expect(problem('orders')).toBeUndefined();
});

test('a number out of its range says the range', () => {
  const none = { absence: { text: 'none' }, present: null };
  const count = { name: 'n', kind: 'count', low: 0, high: 9, initial: 1, ...none } as const;
  expect(problemOf(count, 10)).toEqual({ word: 'range', values: { low: 0, high: 9 } });
  expect(problemOf(count, null)).toEqual({ word: 'empty', values: {} });
  expect(problemOf({ ...count, initial: null }, null)).toBeUndefined();

  const wide = { name: 'n', kind: 'number', initial: '', isRequired: false } as const;
  const low = { ...wide, low: '1', high: null };
  expect(problemOf(low, '0')).toEqual({ word: 'range', values: { low: '1', high: '' } });
  expect(problemOf(low, 'many')).toEqual({ word: 'noNumber', values: {} });
  expect(problemOf(low, '9007199254740993')).toBeUndefined();
});

test('what is left empty in a change is left as it is', () => {
  const topicKind = changeTopic(topic);
  const untouched = initialValues(topicKind.fieldsOf({}));
  const { changeTopic: wished } = topicKind.planOf({ ...untouched, isWritable: false });
  expect(wished).toMatchObject({ isWritable: false, isReadable: null, readQueueCount: null });

  const groupKind = changeGroup('east', [], 'billing');
  const plan = groupKind.planOf(initialValues(groupKind.fieldsOf({})));
  expect(groupKind.fieldsOf({}).map((field) => field.name)).not.toContain('consumerGroupName');
  const { clusterName, consumerGroupName, brokerGroups, ...rest } = plan.changeConsumerGroup ?? {};
  expect([clusterName, consumerGroupName, brokerGroups]).toEqual(['east', 'billing', []]);
  expect(new Set(Object.values(rest))).toEqual(new Set([null]));
});

test('the common values of placements are shown, and none where they differ', () => {
  expect(commonOf([true, true])).toBe(true);
  expect(commonOf([true, false])).toBeNull();
  expect(commonOf([])).toBeNull();
});

test('a reset asks for what its position needs, and sends no value of another', () => {
  const kind = resetOffsets(topic, 'billing');
  const names = (position: string) => kind.fieldsOf({ position }).map(({ name }) => name);
  expect(names('EARLIEST')).not.toContain('offset');
  expect(names('TIME')).toContain('timestampMs');

  const values = {
    consumerGroupName: 'billing',
    offset: '12',
    timestampMs: '',
    queueIds: ['3', '5'],
  };
  const at = kind.planOf({ ...values, position: 'OFFSET' }).resetOffsets;
  expect(at).toMatchObject({ offset: '12', timestampMs: null, queueIds: [3, 5], mode: 'AUTO' });
  const latest = kind.planOf({ ...values, position: 'LATEST' }).resetOffsets;
  expect(latest).toMatchObject({ offset: null, timestampMs: null });
});

test('a form says what the order says of a field, and leaves out a choice that it has no field for', () => {
  const fields = resetOffsets(topic).fieldsOf({});
  const position = fields.find(({ name }) => name === 'position');
  const values = position?.kind === 'choice' ? position.choices.map(({ value }) => value) : [];

  expect(position?.text).toBe('New position of the consumer group.');
  expect(values).toEqual(['EARLIEST', 'LATEST', 'TIME', 'OFFSET', 'GROUP']);
  expect(problemsOf(fields, { queueIds: ['65536'] }).queueIds).toEqual({
    word: 'range',
    values: { low: 0, high: 65_535 },
  });
});

test('a group resets one of its topics, which is chosen', () => {
  const group = { name: 'billing', topics: ['orders', 'payments'], brokerGroups: ['broker-a'] };
  const kind = resetGroup('east', group);
  const values = { ...initialValues(kind.fieldsOf({})), position: 'LATEST' };

  expect(kind.planOf(values).resetOffsets).toMatchObject({
    consumerGroupName: 'billing',
    topicName: 'orders',
    position: 'LATEST',
    brokerGroups: [],
  });
});

test('all replicas are forgotten only where the whole group is asked for', () => {
  const replica = { brokerId: '3', address: '10.0.0.3:10911', isAlive: false };
  const group = { clusterName: 'east', name: 'broker-a', preferredId: null, replicas: [replica] };
  const kind = forgetReplicas(group);
  const named = (scope: string) => kind.fieldsOf({ scope }).map(({ name }) => name);

  expect(named('some')).toEqual(['scope', 'brokerIds']);
  expect(named('group')).toEqual(['scope', 'includesLiving']);
  expect(problemsOf(kind.fieldsOf({}), { brokerIds: [] }).brokerIds?.word).toBe('noneChosen');
  const whole = { scope: 'group', brokerIds: ['3'], includesLiving: true };
  expect(kind.planOf(whole).forgetReplicas).toEqual({
    clusterName: 'east',
    brokerGroupName: 'broker-a',
    brokerIds: [],
    includesLiving: true,
  });
});

test('an adoption takes all that wait, within the bounds of the order', () => {
  const candidates = [{ brokerId: '1' }, { brokerId: '9007199254740993' }];
  const kind = adoptReplicas({ clusterName: 'east', brokerGroupName: 'broker-b', candidates });
  const values = initialValues(kind.fieldsOf({}));

  expect(kind.planOf(values).adoptReplicas).toEqual({
    clusterName: 'east',
    brokerGroupName: 'broker-b',
    brokerIds: ['1', '9007199254740993'],
    masterId: null,
    leastEpoch: null,
    acceptsLoss: false,
  });
  expect(problemsOf(kind.fieldsOf({}), { ...values, leastEpoch: -1 }).leastEpoch?.word).toBe(
    'range',
  );
});

test('offsets are copied from another consumer group, which is named', () => {
  const kind = resetOffsets(topic, 'billing');
  const fields = kind.fieldsOf({ position: 'GROUP' });
  expect(fields.find(({ name }) => name === 'sourceGroup')).toMatchObject({ lengthMax: 120 });

  const values = { consumerGroupName: 'billing', sourceGroup: '', position: 'GROUP' };
  expect(problemsOf(fields, values).sourceGroup).toEqual({ word: 'empty', values: {} });
  const copied = { ...values, sourceGroup: 'audit', position: 'GROUP' };
  expect(kind.planOf(copied).resetOffsets).toMatchObject({
    consumerGroupName: 'billing',
    sourceGroup: 'audit',
    position: 'GROUP',
  });
  expect(kind.planOf({ ...copied, position: 'LATEST' }).resetOffsets).toMatchObject({
    sourceGroup: null,
  });
});

test('a setting is asked for by its own type, with the value of the next start', () => {
  const property = {
    name: 'flushDiskType',
    type: 'CHOICE',
    effect: 'RESTART',
    value: 'ASYNC_FLUSH',
    stored: 'SYNC_FLUSH',
    default: 'ASYNC_FLUSH',
    low: null,
    high: null,
    choices: ['ASYNC_FLUSH', 'SYNC_FLUSH'],
  } as const;
  const given = { ...property, choices: [...property.choices] };

  expect(fieldOfProperty(given)).toMatchObject({ kind: 'choice', initial: 'SYNC_FLUSH' });
  const name = { clusterName: 'east', brokerGroupName: 'broker-a', brokerId: '0' };
  const plan = changeConfig(name, 'broker-a-2', [given]).planOf({ flushDiskType: 'ASYNC_FLUSH' });
  expect(plan.changeBrokerConfig).toEqual({
    ...name,
    changes: [{ name: 'flushDiskType', value: 'ASYNC_FLUSH' }],
  });
});

test('a refusal that names a parameter is shown beside its field', () => {
  expect(fieldNamed(new Error('create_topic: Expected `int` >= 0 - at `$.read_queue_count`'))).toBe(
    'readQueueCount',
  );
  expect(fieldNamed(new Error('no master is online'))).toBeUndefined();
});

test('a message is sent as it was typed, and what is empty is left to the control plane', () => {
  const kind = sendMessage('east', 'orders', null);
  const values = initialValues(kind.fieldsOf({}));
  const problems = problemsOf(kind.fieldsOf({}), { ...values, properties: 'a=1\nb' });

  expect(problems.body).toEqual({ word: 'empty', values: {} });
  expect(problems.properties).toEqual({ word: 'noPair', values: { line: 'b' } });
  expect(fieldNamed(new ApiError('invalid', 'no', 200, { parameter: 'delay_level' }))).toBe(
    'delayLevel',
  );
  expect(
    kind.planOf({
      ...values,
      body: ' {}\n',
      keys: ['k'],
      properties: 'a=1=2\n\nb=3',
      queueId: 2,
    }),
  ).toEqual({
    clusterName: 'east',
    topicName: 'orders',
    body: ' {}\n',
    keys: ['k'],
    tag: null,
    properties: [
      { name: 'a', value: '1=2' },
      { name: 'b', value: '3' },
    ],
    delayLevel: null,
    brokerGroupName: null,
    queueId: 2,
  });
});
