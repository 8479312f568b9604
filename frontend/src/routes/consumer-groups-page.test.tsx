import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import {
  aConsumerGroup,
  aConsumerQueue,
  aGroupRow,
  aLag,
  groupPage,
} from '@/testing/consumer-group-builders';
import { graphqlError } from '@/testing/control-plane';
import { anOperation } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const silent = { name: 'broker-b-1', address: '10.0.0.2:10911', why: 'nobody listens' };

test('groups are listed with what they are behind, and what is not known is said', async () => {
  const rows = [
    aGroupRow(),
    aGroupRow({
      name: 'audit',
      state: 'UNKNOWN',
      lag: aLag({ messageCount: '7', waitingMs: null, isComplete: false }),
    }),
    aGroupRow({
      name: 'gone',
      state: 'INACTIVE',
      memberCount: 0,
      lag: aLag({ messageCount: null, waitingMs: null, isComplete: false, expiredCount: null }),
    }),
  ];
  renderConsole('/consumer-groups', {
    answers: { ConsumerGroups: () => groupPage(rows, [silent]) },
  });

  const table = await screen.findByRole('table', { name: 'Consumer groups' });
  const [, billing, audit, gone] = within(table).getAllByRole('row');

  expect(within(billing as HTMLElement).getByText('4.2 s')).toBeVisible();
  expect(within(audit as HTMLElement).getByText('at least 7')).toBeVisible();
  expect(within(gone as HTMLElement).getAllByText('unknown')).toHaveLength(2);
  expect(within(gone as HTMLElement).getByText('inactive')).toBeVisible();
  expect(screen.getByText(/are missing here, or not complete/)).toBeVisible();
  expect(screen.getByText('broker-b-1 (10.0.0.2:10911): nobody listens')).toBeVisible();
  expect(await violations(document.body)).toEqual([]);
});

test('a group shows each queue with its reader and its lag', async () => {
  const queues = [
    aConsumerQueue(),
    aConsumerQueue({ queueId: 1, committed: null, lag: null, waitingMs: null, owner: null }),
  ];
  renderConsole('/consumer-groups/billing', {
    answers: { ConsumerGroup: () => ({ consumerGroup: aConsumerGroup({ queues }) }) },
  });

  const table = await screen.findByRole('table', { name: 'Queues' });
  const [, first, second] = within(table).getAllByRole('row');

  expect(within(first as HTMLElement).getByText('10.0.0.7@412')).toBeVisible();
  expect(within(second as HTMLElement).getByText('never')).toBeVisible();
  expect(within(second as HTMLElement).getByText('no member seen')).toBeVisible();
  expect(screen.getByRole('table', { name: 'Members' })).toBeVisible();
  expect(await violations(document.body)).toEqual([]);
});

test('what expired unread is said beside the lag, and an offset beyond the end as such', async () => {
  // Case B4.
  const queues = [
    aConsumerQueue({ committed: '10', begin: '300', end: '301', lag: '1', expiredCount: '290' }),
    aConsumerQueue({ queueId: 1, committed: '99', end: '15', lag: '0', aheadCount: '84' }),
  ];
  const lag = aLag({ messageCount: '1', expiredCount: '290' });
  renderConsole('/consumer-groups/billing', {
    answers: { ConsumerGroup: () => ({ consumerGroup: aConsumerGroup({ queues, lag }) }) },
  });

  const table = await screen.findByRole('table', { name: 'Queues' });
  const [, first, second] = within(table).getAllByRole('row');

  expect(first).toHaveTextContent('1 (and 290 expired unread)');
  expect(second).toHaveTextContent('0 (ahead of the end by 84)');
  expect(screen.getAllByText('(and 290 expired unread)')).toHaveLength(2);
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('a group that broadcasts has no lag and nothing of it waits', async () => {
  // Case B5.
  const lag = aLag({
    messageCount: null,
    waitingMs: null,
    expiredCount: null,
    isApplicable: false,
  });
  const queues = [
    aConsumerQueue({ committed: null, lag: null, waitingMs: null, consumedAt: null }),
  ];
  const group = aConsumerGroup({ models: ['broadcasting'], queues, lag, retryLag: lag });
  renderConsole('/consumer-groups/billing', {
    answers: { ConsumerGroup: () => ({ consumerGroup: group }) },
  });

  const table = await screen.findByRole('table', { name: 'Queues' });

  expect(screen.getAllByText('none (broadcasting)')).toHaveLength(2);
  expect(within(table).queryByText('unknown')).toBeNull();
  expect(within(table).queryByText('never')).toBeNull();
});

test('a state that not all brokers reported says by how many', async () => {
  // Case B10.
  const rows = [
    aGroupRow({ brokerCountTold: 3, brokerCountAsked: 4 }),
    aGroupRow({ name: 'idle', state: 'INACTIVE', brokerCountTold: 3, brokerCountAsked: 4 }),
  ];
  renderConsole('/consumer-groups', {
    answers: { ConsumerGroups: () => groupPage(rows, [silent]) },
  });

  expect(await screen.findByText('active, by 3 of 4 brokers')).toBeVisible();
  const idle = screen.getByText('inactive, by 3 of 4 brokers');
  expect(idle.closest('[data-tone]')).toHaveAttribute('data-tone', 'unknown');
});

test('a reset is planned for a topic of the group, by keyboard alone', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/consumer-groups/billing', {
    answers: {
      ConsumerGroup: () => ({ consumerGroup: aConsumerGroup() }),
      PlanOperation: () => ({ operation: anOperation() }),
    },
  });
  const open = await screen.findByRole('button', { name: 'Reset offsets…' });

  open.focus();
  await user.keyboard('{Enter}');
  const position = await screen.findByRole('combobox', { name: 'Go on from' });
  position.focus();
  await user.keyboard('{Enter}{ArrowDown}{Enter}');
  const plan = screen.getByRole('button', { name: 'Plan it' });
  plan.focus();
  await user.keyboard('{Enter}');

  const planned = calls.find((call) => call.operation === 'PlanOperation');
  expect(planned?.variables.plan).toEqual({
    resetOffsets: {
      clusterName: 'regent',
      consumerGroupName: 'billing',
      topicName: 'orders',
      position: 'EARLIEST',
      timestampMs: null,
      offset: null,
      brokerGroups: [],
      queueIds: [],
      mode: 'AUTO',
      sourceGroup: null,
    },
  });
});

test('what is refused on the page is not said in the form of another order', async () => {
  const user = userEvent.setup();
  renderConsole('/consumer-groups/billing', {
    answers: {
      ConsumerGroup: () => ({ consumerGroup: aConsumerGroup() }),
      PlanOperation: () => graphqlError('conflict', 'not now'),
    },
  });

  await user.click(await screen.findByRole('button', { name: 'Protect…' }));
  expect(await screen.findByRole('alert')).toHaveTextContent('not now');
  await user.click(screen.getByRole('button', { name: 'Reset offsets…' }));

  const form = await screen.findByRole('dialog', { name: /billing/ });
  expect(within(form).queryByRole('alert')).toBeNull();
});

test('a group that is not there is said', async () => {
  renderConsole('/consumer-groups/gone', {
    answers: { ConsumerGroup: () => ({ consumerGroup: null }) },
  });

  expect(await screen.findByText('There is no consumer group gone in this cluster')).toBeVisible();
});

test('the form that changes a group shows what it is set to now, where that is one thing', async () => {
  const user = userEvent.setup();
  const [settings] = aConsumerGroup().settings;
  const other = { ...settings, brokerGroupName: 'broker-b', retryCountMax: 3 };
  const group = aConsumerGroup({ settings: [settings, other] as never });
  const { calls } = renderConsole('/consumer-groups/billing', {
    answers: {
      ConsumerGroup: () => ({ consumerGroup: group }),
      PlanOperation: () => ({ operation: anOperation() }),
    },
  });

  await user.click(await screen.findByRole('button', { name: 'Change settings…' }));
  const form = within(await screen.findByRole('dialog'));

  expect(form.getByRole('textbox', { name: /Time to consume/ })).toHaveAttribute(
    'placeholder',
    'as it is (15)',
  );
  expect(form.getByRole('textbox', { name: /Retries at most/ })).toHaveAttribute(
    'placeholder',
    'as it is',
  );
  await user.type(form.getByRole('textbox', { name: /Retry queues/ }), '2');
  await user.click(form.getByRole('button', { name: 'Plan it' }));

  expect(
    calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan,
  ).toMatchObject({
    changeConsumerGroup: { consumerGroupName: 'billing', retryQueueCount: 2, retryCountMax: null },
  });
});

test('a group is deleted from its page with all that it left, where that is asked for', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/consumer-groups/billing', {
    answers: {
      ConsumerGroup: () => ({ consumerGroup: aConsumerGroup() }),
      PlanOperation: () => ({ operation: anOperation() }),
    },
  });

  await user.click(await screen.findByRole('button', { name: 'Delete…' }));
  const form = within(
    await screen.findByRole('dialog', { name: 'Delete a consumer group: billing' }),
  );
  await user.click(form.getByRole('checkbox'));
  await user.click(form.getByRole('button', { name: 'Plan it' }));

  expect(
    calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan,
  ).toMatchObject({ deleteConsumerGroup: { consumerGroupName: 'billing', cleansUp: true } });
});

test('a group with unknown settings is not called stopped', async () => {
  const group = aConsumerGroup({ settings: [] });
  renderConsole('/consumer-groups/billing', {
    answers: { ConsumerGroup: () => ({ consumerGroup: group }) },
  });

  const fact = (await screen.findByText('May consume', { selector: 'dt' })).parentElement;

  expect(within(fact as HTMLElement).getByText('unknown')).toBeVisible();
  expect(screen.queryByText('0 of 0')).toBeNull();
  expect(screen.getByRole('button', { name: 'Stop consuming…' })).toBeVisible();
  expect(screen.getByRole('button', { name: 'Allow consuming…' })).toBeVisible();
});

test('a group that is stopped in some places can be stopped and allowed in all', async () => {
  const user = userEvent.setup();
  const [settings] = aConsumerGroup().settings;
  const other = { ...settings, brokerGroupName: 'broker-b', consumeEnabled: false };
  const group = aConsumerGroup({ settings: [settings, other] as never });
  const { calls } = renderConsole('/consumer-groups/billing', {
    answers: {
      ConsumerGroup: () => ({ consumerGroup: group }),
      PlanOperation: () => ({ operation: anOperation() }),
    },
  });

  expect(await screen.findByRole('button', { name: 'Allow consuming…' })).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Stop consuming…' }));

  expect(
    calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan,
  ).toMatchObject({ changeConsumerGroup: { consumerGroupName: 'billing', consumeEnabled: false } });
});

test('a group that may consume everywhere can only be stopped', async () => {
  renderConsole('/consumer-groups/billing', {
    answers: { ConsumerGroup: () => ({ consumerGroup: aConsumerGroup() }) },
  });

  expect(await screen.findByRole('button', { name: 'Stop consuming…' })).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Allow consuming…' })).toBeNull();
});
