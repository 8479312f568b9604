import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { aConsumerGroup, aConsumerQueue } from '@/testing/consumer-group-builders';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';
import {
  aShareIncident,
  aShareMessage,
  aShareQueue,
  shareIncidentsPage,
  shareQueueDetail,
  shareQueuesPage,
} from '@/testing/share-queue-builders';

const list = { name: 'Share queues by consumer group, topic and queue' };
const messages = { name: 'Messages that are delivered and not finished' };
const one = '/share-queues?ofGroup=billing&ofTopic=orders&ofBroker=broker-a&ofQueue=3';
const plans = { PlanOperation: () => ({ operation: anOperation() }) };
const given = {
  clusterName: 'regent',
  brokerGroupName: 'broker-a',
  consumerGroupName: 'billing',
  topicName: 'orders',
  queueId: 3,
};

test('a share queue shows its window, what is in flight and the oldest delivery', async () => {
  renderConsole('/share-queues');

  const table = within(await screen.findByRole('table', list));

  for (const text of ['billing', 'orders/3', '1,200 – 1,203', '299', '42 s', 'being consumed']) {
    expect(table.getByText(text)).toBeVisible();
  }
  // They leave room for the state and the button in a narrow window.
  for (const name of ['Oldest delivery', 'Delivered again']) {
    expect(table.getByRole('columnheader', { name })).toHaveAttribute('data-spare', 'true');
  }
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test.each([
  [{ isFull: true }, 'window full'],
  [{ acquiredCount: 0 }, 'nothing in flight'],
  [{ acquiredCount: 0, unfinishedCount: '0', oldestAcquiredMs: null }, 'all finished'],
])('a share queue says how it stands', async (change, text) => {
  renderConsole('/share-queues', {
    answers: { ShareQueues: () => shareQueuesPage([aShareQueue(change)]) },
  });

  expect(await screen.findByText(text)).toBeVisible();
});

test('the messages of a share queue name their clients, and the address keeps that', async () => {
  const user = userEvent.setup();
  const waiting = { offset: '1201', holder: null, clientId: null } as const;
  const nameless = { offset: '1202', holder: 'GONE', clientId: null } as const;
  const answers = {
    ShareQueue: () =>
      shareQueueDetail([aShareMessage(), aShareMessage(waiting), aShareMessage(nameless)]),
  };
  const { address } = renderConsole('/share-queues', { answers });

  const label = 'Show messages of orders/3 for billing';
  await user.click(await screen.findByRole('button', { name: label }));

  const table = within(await screen.findByRole('table', messages));
  for (const text of ['10.0.0.7@412', 'none', 'without a known id', 'waits']) {
    expect(table.getByText(text)).toBeVisible();
  }
  expect(table.getAllByRole('button')).toHaveLength(1);
  expect(screen.getByText('4,998')).toBeVisible();
  expect(address()).toContain('ofQueue=');
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('the messages of all gone clients, or of one client, are released by way of a plan', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole(one, { answers: plans });
  await screen.findByRole('table', messages);

  await user.click(screen.getByRole('button', { name: /^Release messages of gone clients/ }));

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
      releaseSharedMessages: given,
    }),
  );
});

test('the messages of one client are released by its name', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole(one, { answers: plans });
  await screen.findByRole('table', messages);

  await user.click(screen.getByRole('button', { name: /^Release the messages of 10.0.0.7@412/ }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
    releaseSharedMessages: { ...given, clientId: '10.0.0.7@412' },
  });
});

test('a share queue without messages of gone clients has none to release', async () => {
  const held = aShareMessage({ holder: 'CONNECTED' });
  renderConsole(one, { answers: { ShareQueue: () => shareQueueDetail([held]) } });

  expect(
    await screen.findByRole('button', { name: /^Release messages of gone clients/ }),
  ).toBeDisabled();
});

test('a reset asks for the offset, and goes by way of a plan', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole(`${one}&order=reset`, { answers: plans });

  const form = within(await screen.findByRole('dialog'));
  const offset = form.getByRole('textbox', { name: /Offset/ });
  expect(offset).toHaveValue('1200');
  await user.clear(offset);
  await user.type(offset, '1400');
  await user.click(form.getByRole('button', { name: 'Plan it' }));

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
      resetShareQueue: { ...given, offset: '1400' },
    }),
  );
});

test('no share queue may exist, a share queue may be gone, and a silent broker is named', async () => {
  const silent = { name: 'broker-b-0', address: '127.0.0.1:10921', why: 'it does not answer' };
  renderConsole(one, {
    answers: {
      ShareQueues: () => shareQueuesPage([], [silent]),
      ShareQueue: () => ({ shareQueue: null }),
    },
  });

  expect(await screen.findByText('No share queue exists')).toBeVisible();
  expect(await screen.findByText('This share queue does not exist')).toBeVisible();
  expect(screen.getByText('broker-b-0 (127.0.0.1:10921): it does not answer')).toBeVisible();
});

test('a consumer group changes its consume mode by way of a plan', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/consumer-groups/billing', {
    answers: {
      ...plans,
      ConsumerGroup: () => ({ consumerGroup: aConsumerGroup({ queues: [aConsumerQueue()] }) }),
    },
  });

  await user.click(await screen.findByRole('button', { name: 'Consume mode…' }));
  const form = within(await screen.findByRole('dialog'));
  await user.click(form.getByRole('button', { name: 'Plan it' }));

  await waitFor(() =>
    expect(
      calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan,
    ).toMatchObject({
      setConsumeMode: { clusterName: 'regent', consumerGroupName: 'billing', mode: 'POP' },
    }),
  );
});

test('a shared queue names its owner and who waits, and is handed over by way of a plan', async () => {
  const user = userEvent.setup();
  const answers = {
    ...plans,
    ShareQueue: () =>
      shareQueueDetail([aShareMessage()], {
        mode: 'SHARED',
        owner: 'broker-a-2',
        waiters: ['broker-a-3'],
      }),
  };
  const { calls } = renderConsole(one, { answers });
  await screen.findByRole('table', messages);
  expect(screen.getByText('broker-a-2')).toBeVisible();
  expect(screen.getByText('broker-a-3 waiting')).toBeVisible();

  await user.click(screen.getByRole('button', { name: 'Hand over…' }));
  const dialog = within(await screen.findByRole('dialog'));
  // An empty field has a meaning, which the form says.
  expect(dialog.getByPlaceholderText('the master, or another member in sync')).toBeVisible();
  await user.type(dialog.getByLabelText('Next owner'), '3');
  expect(await violations(screen.getByRole('dialog'))).toEqual([]);
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
      handOverShareQueues: { ...given, successorId: '3' },
    }),
  );
});

test('a queue that the master always owns is not handed over', async () => {
  renderConsole(one);
  await screen.findByRole('table', messages);

  expect(screen.queryByRole('button', { name: 'Hand over…' })).toBeNull();
});

test('a shared queue without a lease has no owner', async () => {
  const answers = {
    ShareQueues: () => shareQueuesPage([aShareQueue({ mode: 'SHARED', owner: null })]),
  };
  renderConsole('/share-queues', { answers });

  expect(await screen.findByText('no member')).toBeVisible();
});

test('incidents say what happened, what the others have, and how each ended', async () => {
  const lease = {
    id: '1',
    kind: 'LEASE_FENCED',
    topic: 'orders',
    queueId: 3,
    consumerGroupName: 'billing',
    position: null,
    outcome: null,
    reason: null,
    resolvedAt: '2026-01-01T12:00:01Z',
    resolution: 'LEASE_ENDED',
  } as const;
  const { calls } = renderConsole('/share-queues?topic=orders', {
    answers: {
      ShareIncidents: () => shareIncidentsPage([aShareIncident(), aShareIncident(lease)]),
    },
  });

  const table = within(await screen.findByRole('table', { name: 'Incidents of share queues' }));

  const [, store, fenced] = table.getAllByRole('row');
  for (const text of ['broker-a-2', "it can't store records", 'record at 8192', 'open']) {
    expect(store).toHaveTextContent(text);
  }
  for (const text of ['another member has a later lease', 'orders/3 for billing', 'no record']) {
    expect(fenced).toHaveTextContent(text);
  }
  // A long reason is read without scrolling.
  expect(table.getByText('the disk failed').closest('td')).toHaveAttribute('data-wraps', 'true');
  expect(calls.find(({ operation }) => operation === 'ShareIncidents')?.variables.chosen).toEqual({
    clusterName: 'regent',
    consumerGroupName: null,
    topic: 'orders',
  });
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('lost messages of a topic say what was lost, and what to do', async () => {
  const explanation = 'Topic scores is not replicated. Send them again.';
  const lost = {
    kind: 'MESSAGES_LOST',
    explanation,
    topic: 'scores',
    position: null,
    outcome: null,
    resolvedAt: '2026-01-01T12:00:00Z',
    resolution: 'TOPIC_EMPTIED',
  } as const;
  renderConsole('/share-queues', {
    answers: { ShareIncidents: () => shareIncidentsPage([aShareIncident(lost)]) },
  });

  const table = within(await screen.findByRole('table', { name: 'Incidents of share queues' }));

  const [, row] = table.getAllByRole('row');
  for (const text of [/were lost with the former master/, explanation, 'the topic began empty']) {
    expect(row).toHaveTextContent(text);
  }
  expect(table.getByText('topic scores')).toBeVisible();
});

test('a page without incidents says what an incident is', async () => {
  renderConsole('/share-queues');

  expect(await screen.findByText('No incident is recorded')).toBeVisible();
  expect(screen.queryByText(/incidents are shown/)).toBeNull();
});

test('a filter without incidents does not say that none is recorded', async () => {
  renderConsole('/share-queues?topic=orders');

  expect(await screen.findByText('No incident matches')).toBeVisible();
});

test('incidents that are not shown are counted, and the command that lists open ones is named', async () => {
  const page = shareIncidentsPage([aShareIncident()]);
  page.shareIncidents.totalCount = 70;
  renderConsole('/share-queues', { answers: { ShareIncidents: () => page } });

  const note = await screen.findByText(/The newest 1 of 70 incidents are shown/);
  expect(note).toHaveTextContent('regent queue share incidents --open');
});
