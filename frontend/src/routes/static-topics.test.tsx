import { screen, waitFor, within } from '@testing-library/react';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import { expect, test } from 'vitest';
import orders from '@/features/orders/orders.json';
import { violations } from '@/testing/axe';
import { aConsumerGroup, aConsumerQueue } from '@/testing/consumer-group-builders';
import { aMessageDetail } from '@/testing/message-builders';
import { anOperation, aPlan, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';
import { drawnSegment, logicalQueues } from '@/testing/static-topic-builders';

const segments = { before: [drawnSegment], after: [drawnSegment], left_out: 0 };
const move = anOperation({ kind: 'move_queues', plan: aPlan({ facts: { segments } }) });
const shared = [
  {
    name: 'orders',
    queueCount: 4,
    changeId: null,
    shares: [{ brokerGroupName: 'broker-a', ledCount: 3, segmentCount: 5 }],
  },
  {
    name: 'bills',
    queueCount: 8,
    changeId: operationId,
    shares: [{ brokerGroupName: 'broker-a', ledCount: 0, segmentCount: 2 }],
  },
];

const answers = {
  LogicalQueues: () => logicalQueues(),
  StaticTopics: () => ({ staticTopics: { totalCount: 2, nodes: shared } }),
  PlanOperation: () => ({ operation: move }),
  Operation: () => ({ operation: move }),
};

function show(path: string) {
  const { address, calls } = renderConsole(path, { answers });
  return { address, ordered: () => calls.find((one) => one.operation === 'PlanOperation') };
}

test('queues are moved by keyboard, from the page of the topic to the plan', async () => {
  const user = userEvent.setup();
  const { address, ordered } = show('/topics/orders');
  (await screen.findByRole('button', { name: 'Migrate queues…' })).focus();
  await user.keyboard('{Enter}');
  const dialog = within(await screen.findByRole('dialog', { name: 'Migrate queues of orders' }));
  expect(await violations(screen.getByRole('dialog'))).toEqual([]);

  const reach = async (element: HTMLElement) => {
    for (let presses = 0; presses < 20 && document.activeElement !== element; presses += 1) {
      await user.tab();
    }
    expect(element).toHaveFocus();
  };
  await reach(dialog.getByRole('combobox', { name: 'To' }));
  await user.keyboard('{ArrowDown}{ArrowDown}{Enter}');
  expect(dialog.getByRole('combobox', { name: 'To' })).toHaveValue('broker-b');
  await reach(dialog.getByRole('combobox', { name: 'Logical queues' }));
  await user.keyboard('1{ArrowDown}{Enter}3{ArrowDown}{Enter}');
  await reach(dialog.getByRole('button', { name: 'Plan it' }));
  await user.keyboard('{Enter}');

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(ordered()?.variables.plan).toEqual({
    moveQueues: {
      clusterName: 'regent',
      topicName: 'orders',
      destination: 'broker-b',
      queues: [1, 3],
      inFlightMax: 4,
      force: false,
      forceOffset: null,
    },
  });
  expect(await screen.findByRole('region', { name: 'After' })).toBeVisible();
});

test('a queue is not moved to nowhere', async () => {
  const user = userEvent.setup();
  const { ordered } = show('/topics/orders?order=move');
  const dialog = within(await screen.findByRole('dialog', { name: 'Migrate queues of orders' }));

  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  expect(dialog.getByText('Say something here')).toBeVisible();
  expect(dialog.getByRole('combobox', { name: 'To' })).toHaveFocus();
  expect(ordered()).toBeUndefined();
});

test('a static topic is created from the page of topics, with a number of queues', async () => {
  const user = userEvent.setup();
  const { address, ordered } = show('/topics');
  (await screen.findByRole('button', { name: 'Create a static topic…' })).focus();
  await user.keyboard('{Enter}');
  const dialog = within(
    await screen.findByRole('dialog', { name: 'Create a static topic in regent' }),
  );

  await user.type(dialog.getByLabelText('Name'), 'bills{Enter}');
  expect(dialog.getByText('Say something here')).toBeVisible();
  expect(dialog.getByLabelText('Number of logical queues')).toHaveFocus();
  expect(ordered()).toBeUndefined();
  await user.keyboard('8{Enter}');

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(ordered()?.variables.plan).toEqual({
    createStaticTopic: {
      clusterName: 'regent',
      topicName: 'bills',
      queueCount: 8,
      brokerGroups: [],
      offsetMode: 'CONTIGUOUS',
    },
  });
});

test('queues are added to those that a topic has', async () => {
  const user = userEvent.setup();
  const { ordered } = show('/topics/orders');
  await user.click(await screen.findByRole('button', { name: 'Add queues…' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Add queues to orders' }));
  const count = dialog.getByLabelText('Number of logical queues');
  expect(count).toHaveValue('4');

  await user.clear(count);
  await user.type(count, '6{Enter}');

  await waitFor(() =>
    expect(ordered()?.variables.plan).toEqual({
      expandStaticTopic: {
        clusterName: 'regent',
        topicName: 'orders',
        queueCount: 6,
        brokerGroups: [],
      },
    }),
  );
});

test('a static topic is deleted by its own order, and has no queue counts to change', async () => {
  const user = userEvent.setup();
  const { ordered } = show('/topics/orders');
  await screen.findByRole('button', { name: 'Migrate queues…' });
  expect(screen.queryByRole('button', { name: 'Change…' })).toBeNull();

  await user.click(screen.getByRole('button', { name: 'Delete…' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Delete orders' }));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() =>
    expect(ordered()?.variables.plan).toEqual({
      deleteStaticTopic: { clusterName: 'regent', topicName: 'orders', purge: false },
    }),
  );
});

test('an ordinary topic has no queues to migrate', async () => {
  renderConsole('/topics/orders');

  expect(await screen.findByRole('button', { name: 'Change…' })).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Migrate queues…' })).toBeNull();
});

async function choose(user: UserEvent, dialog: ReturnType<typeof within>, way: string) {
  await user.click(dialog.getByRole('combobox', { name: 'Which way' }));
  await user.click(screen.getByRole('option', { name: way }));
}

test('the queues of all static topics leave a broker group by one order', async () => {
  const user = userEvent.setup();
  const { ordered } = show('/replica-groups/broker-a?order=migrate');
  const dialog = within(await screen.findByRole('dialog', { name: 'Migrate queues of broker-a' }));

  expect(dialog.queryByRole('combobox', { name: 'Static topic' })).toBeNull();
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() =>
    expect(ordered()?.variables.plan).toEqual({
      evacuateBrokerGroup: { clusterName: 'regent', brokerGroupName: 'broker-a', inFlightMax: 4 },
    }),
  );
});

test('queues are removed from the highest number on', async () => {
  const user = userEvent.setup();
  const { ordered } = show('/topics/orders?order=shrink');
  const dialog = within(await screen.findByRole('dialog', { name: 'Remove queues of orders' }));
  expect(dialog.getByLabelText('Number of logical queues')).toHaveValue('3');

  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() =>
    expect(ordered()?.variables.plan).toMatchObject({
      shrinkStaticTopic: { topicName: 'orders', queueCount: 3, force: false },
    }),
  );
});

test.each([
  ['shrink', 'Remove queues of orders', 'shrinkStaticTopic'],
  ['move', 'Migrate queues of orders', 'moveQueues'],
] as const)('the order %s says in its own words what it forces', async (order, title, kind) => {
  show(`/topics/orders?order=${order}`);
  const dialog = within(await screen.findByRole('dialog', { name: title }));

  const force = dialog.getByRole('checkbox');
  expect(force).toHaveAccessibleName(orders[kind].force.text);
  expect(force).not.toHaveAccessibleDescription();
});

test('an ordinary topic becomes a static one by an order from its page', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/topics/orders', {
    answers: { PlanOperation: answers.PlanOperation, Operation: answers.Operation },
  });
  await user.click(await screen.findByRole('button', { name: 'Make it static…' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Make orders a static topic' }));
  expect(await violations(screen.getByRole('dialog'))).toEqual([]);
  const offsets = within(dialog.getByRole('radiogroup', { name: 'Offsets after a move' }));
  expect(offsets.getByRole('radio', { name: 'without a gap' })).toBeChecked();

  await user.click(offsets.getByRole('radio', { name: 'in blocks' }));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find((one) => one.operation === 'PlanOperation')?.variables.plan).toEqual({
    convertTopic: { clusterName: 'regent', topicName: 'orders', offsetMode: 'BLOCK' },
  });
});

test('a static topic is imported from a file as it is, whatever its epoch', async () => {
  const user = userEvent.setup();
  const { address, ordered } = show('/topics');
  await user.click(await screen.findByRole('button', { name: 'Import a static topic…' }));
  const dialog = within(
    await screen.findByRole('dialog', { name: 'Import a static topic into regent' }),
  );
  expect(await violations(screen.getByRole('dialog'))).toEqual([]);
  const force = dialog.getByRole('checkbox', { name: orders.importStaticTopic.force.text });

  await user.type(dialog.getByLabelText('Name'), 'bills');
  await user.click(dialog.getByLabelText('Mapping file'));
  await user.paste(' {"topic": "bills"}\n');
  await user.click(force);
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(ordered()?.variables.plan).toEqual({
    importStaticTopic: {
      clusterName: 'regent',
      topicName: 'bills',
      document: ' {"topic": "bills"}\n',
      force: true,
    },
  });
});

test('without a file a static topic is imported from its brokers', async () => {
  const user = userEvent.setup();
  const { ordered } = show('/topics?order=importStatic');
  const dialog = within(
    await screen.findByRole('dialog', { name: 'Import a static topic into regent' }),
  );

  await user.click(dialog.getByRole('button', { name: 'Plan it' }));
  expect(dialog.getByText('Say something here')).toBeVisible();
  expect(ordered()).toBeUndefined();
  await user.type(dialog.getByLabelText('Name'), 'bills{Enter}');

  await waitFor(() =>
    expect(ordered()?.variables.plan).toEqual({
      importStaticTopic: {
        clusterName: 'regent',
        topicName: 'bills',
        document: null,
        force: false,
      },
    }),
  );
});

test('queues leave a broker group by an order from its page', async () => {
  const user = userEvent.setup();
  const { address, ordered } = show('/replica-groups/broker-a');
  const topics = within(
    await screen.findByRole('table', { name: 'Static topics with queues here' }),
  );
  expect(topics.getByRole('row', { name: /orders/ })).toHaveTextContent('orders3 of 45');
  expect(topics.getByRole('link', { name: 'changing now' })).toBeVisible();

  await user.click(screen.getByRole('button', { name: 'Migrate queues…' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Migrate queues of broker-a' }));
  expect(await violations(screen.getByRole('dialog'))).toEqual([]);
  await choose(user, dialog, 'One topic off this broker group');
  await user.click(dialog.getByRole('combobox', { name: 'Static topic' }));
  // The broker group leads no queue of the other topic.
  expect(screen.getAllByRole('option').map((one) => one.textContent)).toEqual(['orders']);
  await user.click(screen.getByRole('option', { name: 'orders' }));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(ordered()?.variables.plan).toEqual({
    moveQueues: {
      clusterName: 'regent',
      topicName: 'orders',
      leaving: 'broker-a',
      inFlightMax: 4,
      force: false,
      forceOffset: null,
    },
  });
});

test('a broker group gets its share of the queues of any static topic', async () => {
  const user = userEvent.setup();
  const { ordered } = show('/replica-groups/broker-a?order=migrate');
  const dialog = within(await screen.findByRole('dialog', { name: 'Migrate queues of broker-a' }));

  await choose(user, dialog, 'One topic onto this broker group');
  await user.click(dialog.getByRole('combobox', { name: 'Static topic' }));
  await user.click(screen.getByRole('option', { name: 'bills' }));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() =>
    expect(ordered()?.variables.plan).toMatchObject({
      moveQueues: { topicName: 'bills', onto: 'broker-a' },
    }),
  );
  expect(ordered()?.variables.plan).not.toHaveProperty('moveQueues.leaving');
});

test('a cluster without static topics offers no moves on the page of a broker group', async () => {
  renderConsole('/replica-groups/broker-a');

  await screen.findByRole('heading', { name: 'broker-a', level: 1 });

  expect(await screen.findByRole('region', { name: 'History' })).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Migrate queues…' })).toBeNull();
  expect(screen.queryByText('Static topics with queues here')).toBeNull();
});

test('a consumer group names the logical queues of static topics as such', async () => {
  const queues = [aConsumerQueue({ queueId: 3 }), aConsumerQueue({ topic: 'plain', queueId: 5 })];
  const more = { ConsumerGroup: () => ({ consumerGroup: aConsumerGroup({ queues }) }) };
  renderConsole('/consumer-groups/billing', { answers: { ...answers, ...more } });

  const table = await screen.findByRole('table', { name: 'Queues' });
  expect(await within(table).findByText('logical 3')).toBeVisible();
  expect(within(table).getByRole('row', { name: /plain/ })).not.toHaveTextContent('logical');
});

test('the place of a message of a static topic is named as a logical one', async () => {
  const more = { Message: () => ({ message: aMessageDetail() }) };
  renderConsole('/messages/7F00000100002A9F0000000000000000', { answers: { ...answers, ...more } });

  expect(await screen.findByText('Logical queue and offset')).toBeVisible();
});

test('offsets of a static topic are reset in its logical queues', async () => {
  const user = userEvent.setup();
  show('/topics/orders?order=reset');
  const dialog = within(await screen.findByRole('dialog', { name: 'Reset offsets in orders' }));

  await user.click(await dialog.findByRole('combobox', { name: 'In these queues' }));

  expect(screen.getAllByRole('option').map((one) => one.textContent)).toEqual(['0', '1', '2', '3']);
});
