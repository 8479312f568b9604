import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { aTopic, topicPage } from '@/testing/builders';
import { renderConsole } from '@/testing/render-console';
import { logicalQueues } from '@/testing/static-topic-builders';

const twoPages = {
  Topics: ({ after }: Record<string, unknown>) =>
    after === 'ImsxIg'
      ? topicPage([aTopic({ id: 't2', name: 'payments' })], null, 2)
      : topicPage([aTopic()], 'ImsxIg', 2),
};

test('the search and the kind go into the address and to the server', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/topics');
  await screen.findByRole('link', { name: 'orders' });

  await user.type(screen.getByLabelText('Find by name'), 'ord');
  await waitFor(() => expect(address()).toBe('/topics?search=ord'));
  await user.click(screen.getByRole('radio', { name: 'Dead letter' }));

  await waitFor(() => expect(address()).toBe('/topics?search=ord&kind=DEAD_LETTER'));
  await waitFor(() =>
    expect(calls.findLast((one) => one.operation === 'Topics')?.variables).toMatchObject({
      search: 'ord',
      kind: 'DEAD_LETTER',
    }),
  );
});

test('pages follow each other by cursor, forth and back', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/topics', { answers: twoPages });
  await screen.findByRole('link', { name: 'orders' });
  expect(screen.getByRole('button', { name: 'Previous' })).toBeDisabled();

  await user.click(screen.getByRole('button', { name: 'Next' }));

  expect(await screen.findByRole('link', { name: 'payments' })).toBeVisible();
  expect(address()).toBe('/topics?after=ImsxIg');
  expect(screen.getByRole('button', { name: 'Next' })).toBeDisabled();

  await user.click(screen.getByRole('button', { name: 'Previous' }));

  expect(await screen.findByRole('link', { name: 'orders' })).toBeVisible();
  expect(address()).toBe('/topics');
});

test('what is sorted by a column says so where there are more pages', async () => {
  const user = userEvent.setup();
  renderConsole('/topics', { answers: twoPages });
  await screen.findByRole('link', { name: 'orders' });
  const pager = within(screen.getByRole('navigation', { name: 'Pages of topics' }));
  expect(pager.queryByText(/Sorted/)).toBeNull();

  await user.click(screen.getByRole('button', { name: 'In msg/s' }));
  expect(await pager.findByText('Sorted within this page only')).toBeVisible();

  await user.click(screen.getByRole('button', { name: 'Next' }));
  await screen.findByRole('link', { name: 'payments' });
  expect(pager.getByText('Sorted within this page only')).toBeVisible();
});

test('all rows on one page are simply sorted', async () => {
  renderConsole('/topics?sort=name');

  expect(await screen.findByRole('link', { name: 'orders' })).toBeVisible();
  expect(screen.queryByText(/Sorted/)).toBeNull();
});

test('a page that stands in for the next is marked so, and not called observed', async () => {
  const user = userEvent.setup();
  const Topics = ({ after }: Record<string, unknown>) =>
    after ? new Promise(() => undefined) : twoPages.Topics({ after });
  renderConsole('/topics', { answers: { Topics } });
  const link = await screen.findByRole('link', { name: 'orders' });
  const list = within(screen.getByRole('region', { name: 'Topics by name' }));
  expect(list.getByText(/^observed/)).toBeVisible();

  await user.click(screen.getByRole('button', { name: 'Next' }));

  await waitFor(() => expect(link.closest('[aria-busy]')).toHaveAttribute('aria-busy', 'true'));
  expect(list.queryByText(/^observed|^stale/)).toBeNull();
});

test('an address with a cursor opens that page', async () => {
  renderConsole('/topics?after=ImsxIg', { answers: twoPages });

  expect(await screen.findByRole('link', { name: 'payments' })).toBeVisible();
  expect(screen.getByRole('button', { name: 'First' })).toBeEnabled();
});

test('no topic at all and no matching topic are distinguished', async () => {
  renderConsole('/topics?search=nothing', { answers: { Topics: () => topicPage([]) } });

  expect(await screen.findByText('No topic matches')).toBeVisible();
  expect(screen.queryByText('No topic yet')).not.toBeInTheDocument();
});

test('a topic with a percent sign in its name opens', async () => {
  const user = userEvent.setup();
  const retry = aTopic({ name: '%RETRY%billing', kind: 'RETRY' });
  const { calls } = renderConsole('/topics', {
    answers: {
      Topics: () => topicPage([retry]),
      Topic: () => ({ cluster: { id: 'c1', topic: retry } }),
    },
  });

  await user.click(await screen.findByRole('link', { name: '%RETRY%billing' }));

  expect(await screen.findByRole('heading', { name: '%RETRY%billing', level: 1 })).toBeVisible();
  expect(calls.findLast((call) => call.operation === 'Topic')?.variables).toMatchObject({
    topicName: '%RETRY%billing',
  });
});

test('a topic shows its placements, its queues and the route of its clients', async () => {
  const queue = { brokerGroupName: 'broker-b', queueId: 1, minOffset: null, maxOffset: null };
  const topic = aTopic({ queues: [...aTopic().queues, { ...queue, observedAt: null }] });
  renderConsole('/topics/orders', { answers: { Topic: () => ({ cluster: { id: 'c1', topic } }) } });

  const queues = await screen.findByRole('table', { name: 'Queues' });
  const route = screen.getByRole('table', { name: 'Route, as clients see it' });

  expect(screen.getByRole('table', { name: 'Placements' })).toBeVisible();
  expect(within(queues).getAllByText('1,200')).toHaveLength(2);
  expect(within(queues).getAllByText('not collected').length).toBeGreaterThan(0);
  expect(within(route).getByText('127.0.0.1:10911')).toBeVisible();
  expect(within(route).getByText('read, write')).toBeVisible();
});

test('a topic that is not replicated says what would be lost, and where', async () => {
  const { placements } = aTopic();
  const change = { brokerGroupName: 'broker-b', messageType: 'FIFO', isReplicated: false };
  const alone = placements.map((one) => ({ ...one, ...change }));
  const topic = aTopic({ placements: [...placements, ...alone] });
  renderConsole('/topics/orders', { answers: { Topic: () => ({ cluster: { id: 'c1', topic } }) } });

  const table = await screen.findByRole('table', { name: 'Placements' });

  expect(screen.getByText('This topic is not replicated on broker-b')).toBeVisible();
  expect(screen.getByText(/If another broker becomes master, they are lost/)).toBeVisible();
  const [head, replicated, unreplicated] = within(table).getAllByRole('row');
  expect(head).toHaveTextContent(/Share queues belong toReplicated$/);
  expect(replicated).toHaveTextContent(/of any typethe masteryes$/);
  expect(unreplicated).toHaveTextContent(/in order \(FIFO\)the masterno$/);
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('a replicated topic has no such notice', async () => {
  renderConsole('/topics/orders');

  await screen.findByRole('table', { name: 'Placements' });
  expect(screen.queryByText(/is not replicated/)).toBeNull();
});

test('a static topic shows the segments of its logical queues', async () => {
  const answers = { LogicalQueues: () => logicalQueues() };

  renderConsole('/topics/orders', { answers });

  const lane = await screen.findByRole('list', { name: 'Logical queue 0' });
  expect(within(lane).getByText('offsets 0 to 42')).toBeVisible();
});

test('the queues of a static topic are named as logical ones', async () => {
  renderConsole('/topics/orders', { answers: { LogicalQueues: () => logicalQueues() } });

  const table = await screen.findByRole('table', { name: 'Logical queues' });
  expect(within(table).getAllByRole('row')[0]).toHaveTextContent('Led byLogical queue');
  expect(screen.getByText('Placements of physical queues')).toBeVisible();
});

test('an ordinary topic shows no segments', async () => {
  renderConsole('/topics/orders');

  expect(await screen.findByRole('heading', { name: 'Placements' })).toBeVisible();
  expect(screen.queryByRole('heading', { name: /logical queues/i })).toBeNull();
});

test('a topic that does not exist is said', async () => {
  renderConsole('/topics/gone', {
    answers: { Topic: () => ({ cluster: { id: 'c1', topic: null } }) },
  });

  expect(await screen.findByText('There is no topic gone in this cluster')).toBeVisible();
});
