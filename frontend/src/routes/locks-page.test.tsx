import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { graphqlError } from '@/testing/control-plane';
import { aLock, anExplanation, explanations, lockPage } from '@/testing/lock-builders';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const planned = () => ({ operation: anOperation() });

async function rowOf(topic: string): Promise<HTMLElement> {
  const table = await screen.findByRole('table', { name: 'Ordered-queue locks' });
  const row = within(table)
    .getAllByRole('row')
    .find((one) => one.textContent?.includes(topic));
  return row as HTMLElement;
}

test('a lock shows its holder, since when, and whether its holder is there', async () => {
  renderConsole('/locks');

  const row = within(await rowOf('orders'));

  expect(row.getByText('billing')).toBeVisible();
  expect(row.getByText('3 on broker-a')).toBeVisible();
  expect(row.getByText('10.0.0.7@412')).toBeVisible();
  expect(row.getByText('gone')).toBeVisible();
  expect(row.getByText('2 min')).toBeVisible();
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('a lock of a logical queue names it, and the physical queue beside it', async () => {
  const logical = { isLogical: true, topic: 'static' };
  const locks = [
    aLock({ ...logical, queueId: 3, physicalQueueId: 5 }),
    aLock({ ...logical, queueId: 4, brokerGroupName: 'broker-b' }),
    aLock(),
  ];
  renderConsole('/locks', { answers: { Locks: () => lockPage(locks) } });

  const table = await screen.findByRole('table', { name: 'Ordered-queue locks' });

  expect(within(table).getByText('logical 3 on broker-a, physical 5')).toBeVisible();
  expect(within(table).getByText('logical 4 on broker-b')).toBeVisible();
  expect(within(table).getByText('3 on broker-a')).toBeVisible();
});

test('one lock, or all of its client, is released by way of a plan', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/locks', { answers: { PlanOperation: planned } });
  const row = within(await rowOf('orders'));

  await user.click(row.getByRole('button', { name: 'Release the lock of orders/3…' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
    releaseLocks: {
      clusterName: 'regent',
      clientId: '10.0.0.7@412',
      consumerGroupName: 'billing',
      topic: 'orders',
      brokerGroupName: 'broker-a',
      queueId: 3,
    },
  });
});

test('all of a client is named by the client alone', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/locks', { answers: { PlanOperation: planned } });
  const row = within(await rowOf('orders'));

  await user.click(row.getByRole('button', { name: 'Release all locks of 10.0.0.7@412…' }));

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
      releaseLocks: { clusterName: 'regent', clientId: '10.0.0.7@412' },
    }),
  );
});

test('locks of another cluster are gone at once, and a lock is released in its own', async () => {
  const user = userEvent.setup();
  const { router, calls } = renderConsole('/locks?cluster=east', {
    answers: {
      Locks: ({ chosen }) =>
        (chosen as { clusterName: string }).clusterName === 'east'
          ? lockPage([aLock({ clusterName: 'north' })])
          : new Promise(() => undefined),
      PlanOperation: () => graphqlError('unavailable', 'not now'),
    },
  });
  const row = within(await rowOf('orders'));

  await user.click(row.getByRole('button', { name: /^Release the lock/ }));
  await user.click(row.getByRole('button', { name: /^Release all locks/ }));
  await act(() => router.navigate({ to: '/locks', search: { cluster: 'west' } }));

  expect(screen.queryByRole('table', { name: 'Ordered-queue locks' })).toBeNull();
  const planned = calls.filter(({ operation }) => operation === 'PlanOperation');
  expect(planned.map(({ variables }) => variables.plan)).toMatchObject([
    { releaseLocks: { clusterName: 'north' } },
    { releaseLocks: { clusterName: 'north' } },
  ]);
});

test('why a queue is paused is answered in a sentence with its evidence, at an address', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/locks');
  const row = within(await rowOf('orders'));

  await user.click(row.getByRole('button', { name: 'Why is orders/3 paused?' }));

  const answers = within(await screen.findByRole('list', { name: 'Answers' }));
  expect(answers.getByText(anExplanation().sentence)).toBeVisible();
  expect(answers.getByText('12 messages behind')).toBeVisible();
  expect(answers.getByText('it renewed last 48 s ago')).toBeVisible();
  expect(address()).toContain('whyGroup=billing&whyTopic=orders&whyBroker=broker-a&whyQueue=');
  expect(calls.findLast(({ operation }) => operation === 'QueueExplanations')?.variables).toEqual({
    clusterName: 'regent',
    consumerGroupName: 'billing',
    topicName: 'orders',
    brokerGroupName: 'broker-a',
    queueId: 3,
  });
});

test('a queue without a lock is asked about too, once it is said which', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/locks', {
    answers: { Locks: () => lockPage([]), QueueExplanations: () => explanations([]) },
  });
  const panel = within(await screen.findByRole('region', { name: 'Why is this queue paused?' }));
  await user.click(panel.getByRole('button', { name: 'Ask' }));
  expect(panel.getAllByText('Say which')).toHaveLength(2);

  await user.type(panel.getByLabelText('Consumer group'), 'billing');
  await user.type(panel.getByLabelText('Topic'), 'nothing{Enter}');

  expect(await screen.findByText('The topic has no such queue')).toBeVisible();
  expect(
    calls.findLast(({ operation }) => operation === 'QueueExplanations')?.variables,
  ).toMatchObject({ topicName: 'nothing', brokerGroupName: null, queueId: null });
});

test('brokers that do not answer are named, and their locks are not called none', async () => {
  const silent = {
    clusterName: 'regent',
    name: 'stock-0',
    address: '10.0.0.9:10911',
    why: 'it does not know this request',
  };
  renderConsole('/locks', { answers: { Locks: () => lockPage([aLock()], [silent]) } });

  expect(
    await screen.findByText('The values of one broker are missing here, or not complete'),
  ).toBeVisible();
  expect(screen.getByText(/stock-0 \(10.0.0.9:10911\): it does not know/)).toBeVisible();
});

test('a filter is asked of the brokers and stands in the address', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/locks');
  await rowOf('orders');

  await user.click(screen.getByRole('radio', { name: 'gone' }));

  await waitFor(() => expect(address()).toBe('/locks?holder=GONE'));
  await waitFor(() =>
    expect(calls.findLast(({ operation }) => operation === 'Locks')?.variables).toMatchObject({
      chosen: { clusterName: 'regent', holder: 'GONE', topic: null },
    }),
  );
});

test('leases show who leads, in which epoch and until when', async () => {
  const user = userEvent.setup();
  renderConsole('/locks');
  await rowOf('orders');

  await user.click(screen.getByRole('radio', { name: 'Leases' }));

  const leases = within(await screen.findByRole('table', { name: 'Leases' }));
  expect(leases.getByRole('link', { name: 'broker-a' })).toBeVisible();
  expect(leases.getByText('17')).toBeVisible();
  expect(leases.getByText('none runs')).toBeVisible();
});

test('leases show which operations workers hold, and under which number', async () => {
  renderConsole('/locks?tab=leases');

  const table = await screen.findByRole('table', { name: 'Operations at work' });
  const [, row] = within(table).getAllByRole('row');

  expect(within(row as HTMLElement).getByRole('link', { name: 'Drain broker' })).toBeVisible();
  expect(row).toHaveTextContent('broker-a/0');
  expect(row).toHaveTextContent('wait until all is read');
  expect(row).toHaveTextContent('1770000000000');
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});
