import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import type { Answers } from '@/testing/control-plane';
import { anOperation, aPlan, aStep, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';
import { aMove, drawnSegment, logicalQueues } from '@/testing/static-topic-builders';

const ended = {
  ...drawnSegment,
  status: 'read_only',
  logical_end: '9007199254740993',
  physical_end: '9007199254741000',
};
const expired = { ...ended, status: 'expired' };
const following = {
  ...drawnSegment,
  generation: 1,
  broker_group_name: 'broker-b',
  queue_id: 5,
  logical_start: '9007199254740993',
  physical_start: null,
};
const move = anOperation({
  kind: 'move_queues',
  target: 'orders',
  plan: aPlan({
    facts: {
      segments: { before: [drawnSegment], after: [ended, following], left_out: 0 },
      change_id: 'c-1',
    },
  }),
});

test('the plan shows the segments before and after, and once only', async () => {
  const answers = { Operation: () => ({ operation: move }) };
  renderConsole(`/operations/${operationId}`, { answers });

  const before = await screen.findByRole('region', { name: 'Before' });
  const after = screen.getByRole('region', { name: 'After' });
  expect(within(before).getByText('led by broker-a')).toBeVisible();
  expect(within(before).getByText('offsets 0 to open')).toBeVisible();
  expect(within(before).getByText(/physical offsets 7 to open/)).toBeVisible();
  expect(within(after).getByText('led by broker-b')).toBeVisible();
  const lane = within(after).getByRole('list', { name: 'Logical queue 3' });
  const [older, newer] = within(lane).getAllByRole('listitem');
  expect(older).toHaveTextContent('broker-a, physical queue 1');
  expect(older).toHaveTextContent('0 to 9,007,199,254,740,993');
  expect(older).toHaveTextContent('physical offsets 7 to 9,007,199,254,741,000');
  expect(older).toHaveTextContent('read only');
  expect(newer).toHaveTextContent('broker-b, physical queue 5');
  expect(newer).toHaveTextContent('generation 1');
  expect(newer).not.toHaveTextContent('physical offsets');
  expect(newer).toHaveTextContent('takes messages');
  const facts = within(screen.getByRole('region', { name: 'Facts of the plan' }));
  expect(facts.getByText('c-1')).toBeVisible();
  expect(facts.queryByText(/broker-b/)).toBeNull();
  expect(await violations(after)).toEqual([]);
});

test('a plan that creates a topic shows that nothing was there', async () => {
  const plan = aPlan({
    changes: [],
    facts: { segments: { before: [], after: [drawnSegment], left_out: 44 } },
  });
  const operation = anOperation({ kind: 'create_static_topic', plan });
  renderConsole(`/operations/${operationId}`, { answers: { Operation: () => ({ operation }) } });

  const after = await screen.findByRole('region', { name: 'After' });

  expect(within(after).getByText('led by broker-a')).toBeVisible();
  expect(screen.getByText('not there')).toBeVisible();
  expect(screen.getByText('44 more logical queues change and are not shown')).toBeVisible();
  expect(screen.queryByRole('region', { name: 'Before' })).toBeNull();
});

test('a plan marks expired segments, and lists all of them in a table', async () => {
  const user = userEvent.setup();
  const segments = { before: [expired], after: [expired, following], left_out: 0 };
  const operation = anOperation({ ...move, plan: aPlan({ changes: [], facts: { segments } }) });
  renderConsole(`/operations/${operationId}`, { answers: { Operation: () => ({ operation }) } });

  expect(await screen.findAllByText('expired')).toHaveLength(2);
  await user.click(screen.getByRole('radio', { name: 'Table' }));

  const rows = within(screen.getByRole('table', { name: 'After' })).getAllByRole('row');
  expect(rows.slice(1).map((row) => row.textContent)).toEqual([
    '30broker-a10 to 9,007,199,254,740,9937 to 9,007,199,254,741,000expired',
    '31broker-b59,007,199,254,740,993 to opentakes messages',
  ]);
});

const switching = aStep({
  name: 'switch',
  title: 'Move 2 logical queues',
  state: 'RUNNING',
  before: { epoch: '5', change: { queues: { 1: 'prepared', 3: 'prepared' } } },
  beganAt: '2026-03-01T12:00:00Z',
});
const running = anOperation({
  ...move,
  state: 'RUNNING',
  confirmedAt: '2026-03-01T12:00:00Z',
  steps: [switching],
});

function showRunning(operation: typeof running, more: Answers = {}) {
  renderConsole(`/operations/${operationId}`, {
    answers: { Operation: () => ({ operation }), ...more },
  });
  return screen.findByRole('region', { name: 'Progress of each logical queue' });
}

test('a running move shows how far each queue is now, within a step too', async () => {
  const moves = [aMove(1, { step: 'ACTIVE' }), aMove(3, { step: 'SEALED', queueId: 5 })];
  const change = { id: operationId, stale: [], moves };

  const progress = await showRunning(running, {
    QueueMoves: () => ({ logicalQueues: { change } }),
  });

  expect(await within(progress).findByText('1 of 2 logical queues done')).toBeVisible();
  const [first, second] = within(
    within(progress).getByRole('region', { name: 'Logical queues of orders' }),
  ).getAllByRole('listitem');
  expect(first).toHaveTextContent('Logical queue 1donebroker-a to broker-b');
  expect(second).toHaveTextContent('Logical queue 3sealedbroker-a to broker-b');
  expect(await violations(progress)).toEqual([]);
});

test('the progress of an earlier operation is that of its journal', async () => {
  const done = { ...switching, state: 'DONE' as const, after: { queues: { 3: 'active' } } };
  const change = { id: 'another', stale: [], moves: [aMove(0)] };

  const progress = await showRunning(
    { ...running, state: 'DONE', steps: [done, aStep({ position: 1 })] },
    { QueueMoves: () => ({ logicalQueues: { change } }) },
  );

  expect(within(progress).getByText('1 of 1 logical queues done')).toBeVisible();
  expect(within(progress).getByText('broker-a to broker-b')).toBeVisible();
});

test('an operation on several topics shows the progress of each', async () => {
  const noted = (position: number, name: string, word: string) => ({
    ...aStep({ position, name, state: 'DONE', beganAt: '2026-03-01T12:00:00Z' }),
    after: { queues: { 3: word } },
  });
  const steps = [
    noted(0, 'bills/begin', 'planned'),
    noted(1, 'bills/spread', 'active'),
    noted(2, 'orders/begin', 'planned'),
    aStep({ position: 3, name: 'orders/switch-3' }),
  ];
  const change = { id: operationId, stale: [], moves: [aMove(3, { step: 'PREPARED' })] };

  const progress = await showRunning(
    { ...running, target: 'broker-a', steps },
    {
      QueueMoves: ({ topicName }) => ({
        logicalQueues: { change: topicName === 'orders' ? change : null },
      }),
    },
  );

  const [bills, orders] = ['bills', 'orders'].map((name) =>
    within(progress).getByRole('region', { name: `Logical queues of ${name}` }),
  );
  expect(bills).toHaveTextContent('Logical queue 3done');
  await waitFor(() => expect(orders).toHaveTextContent('Logical queue 3place reserved'));
});

test('the journal of a large move is folded', async () => {
  const user = userEvent.setup();
  const queues = Object.fromEntries(Array.from({ length: 100 }, (_, id) => [id, 'sealed']));
  await showRunning({ ...running, steps: [{ ...switching, after: { queues } }] });
  const steps = within(screen.getByRole('region', { name: 'Steps' }));
  expect(steps.queryByText('sealed')).toBeNull();

  await user.click(steps.getByText('100 values'));

  expect(steps.getAllByText('sealed')).toHaveLength(100);
});

test('the page of a topic shows its unfinished change, and the place that is reserved', async () => {
  const moves = [aMove(0, { step: 'PREPARED', queueId: 9 }), aMove(1)];
  const change = { id: operationId, stale: ['broker-c'], moves };
  renderConsole('/topics/orders', { answers: { LogicalQueues: () => logicalQueues({ change }) } });

  const panel = within(
    await screen.findByRole('region', { name: 'Segments of the logical queues' }),
  );

  expect(await panel.findByText('0 of 2 logical queues done')).toBeVisible();
  expect(panel.getByText(/when they return: broker-c/)).toBeVisible();
  expect(panel.getByRole('link', { name: 'Open the operation' })).toHaveAttribute(
    'href',
    `/operations/${operationId}?cluster=regent`,
  );
  expect(panel.getByText('broker-b, physical queue 9')).toBeVisible();
  expect(panel.getAllByText('reserved')).toHaveLength(1);
  expect(panel.getByText('Epoch 1,760,000,000,000')).toBeVisible();
});
