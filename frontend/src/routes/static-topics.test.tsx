import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { anOperation, aPlan, aStep, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

function aQueue(globalId: number) {
  const segment = {
    generation: 0,
    brokerGroupName: 'broker-a',
    queueId: globalId,
    status: 'NORMAL',
    logicalStart: '0',
    logicalEnd: null,
    physicalStart: '0',
    physicalEnd: null,
  };
  return { globalId, leaderName: 'broker-a', sealed: false, maxOffset: '42', segments: [segment] };
}

const drawn = {
  global_id: 3,
  generation: 0,
  broker_group_name: 'broker-a',
  queue_id: 1,
  logical_start: '0',
  logical_end: null,
};
const ended = { ...drawn, logical_end: '9007199254740993' };
const following = {
  ...drawn,
  generation: 1,
  broker_group_name: 'broker-b',
  queue_id: 5,
  logical_start: '9007199254740993',
};
const move = anOperation({
  kind: 'move_queues',
  target: 'orders',
  plan: aPlan({
    facts: { segments: { before: [drawn], after: [ended, following] }, change_id: 'c-1' },
  }),
});

const answers = {
  LogicalQueues: () => ({ logicalQueues: { queues: [0, 1, 2, 3].map(aQueue) } }),
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

test('the plan shows the segments before and after, and once only', async () => {
  show(`/operations/${operationId}`);

  const before = await screen.findByRole('region', { name: 'Before' });
  const after = screen.getByRole('region', { name: 'After' });
  expect(within(before).getByText('led by broker-a')).toBeVisible();
  expect(within(before).getByText('0 to open')).toBeVisible();
  expect(within(after).getByText('led by broker-b')).toBeVisible();
  const lane = within(after).getByRole('list', { name: 'Logical queue 3' });
  const [older, newer] = within(lane).getAllByRole('listitem');
  expect(older).toHaveTextContent('broker-a, queue 1');
  expect(older).toHaveTextContent('0 to 9,007,199,254,740,993');
  expect(older).toHaveTextContent('read only');
  expect(newer).toHaveTextContent('broker-b, queue 5');
  expect(newer).toHaveTextContent('generation 1');
  expect(newer).not.toHaveTextContent('stored');
  expect(newer).toHaveTextContent('takes messages');
  const facts = within(screen.getByRole('region', { name: 'Facts of the plan' }));
  expect(facts.getByText('c-1')).toBeVisible();
  expect(facts.queryByText(/broker-b/)).toBeNull();
  expect(await violations(after)).toEqual([]);
});

test('a plan that creates a topic shows that nothing was there', async () => {
  const plan = aPlan({ changes: [], facts: { segments: { before: [], after: [drawn] } } });
  const operation = anOperation({ kind: 'create_static_topic', plan });
  renderConsole(`/operations/${operationId}`, { answers: { Operation: () => ({ operation }) } });

  const after = await screen.findByRole('region', { name: 'After' });

  expect(within(after).getByText('led by broker-a')).toBeVisible();
  expect(screen.getByText('not there')).toBeVisible();
  expect(screen.queryByRole('region', { name: 'Before' })).toBeNull();
});

test('a running move shows how far each queue is', async () => {
  const switching = aStep({
    name: 'switch',
    title: 'Switch 2 logical queues',
    state: 'RUNNING',
    before: { epoch: '5', change: { queues: { 1: 'prepared', 3: 'prepared' } } },
    after: { queues: { 1: 'activated', 3: 'sealed' } },
    beganAt: '2026-03-01T12:00:00Z',
  });
  const operation = anOperation({
    ...move,
    state: 'RUNNING',
    confirmedAt: '2026-03-01T12:00:00Z',
    steps: [switching],
  });
  renderConsole(`/operations/${operationId}`, { answers: { Operation: () => ({ operation }) } });

  const steps = within(await screen.findByRole('region', { name: 'Steps' }));

  expect(steps.getByText('Switch 2 logical queues')).toBeVisible();
  expect(steps.getByText('activated')).toBeVisible();
  expect(steps.getByText('sealed')).toBeVisible();
});
