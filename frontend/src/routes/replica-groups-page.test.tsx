import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { graphqlError } from '@/testing/control-plane';
import { aGroup, aReplica, groupPage } from '@/testing/group-builders';
import { renderConsole } from '@/testing/render-console';

const lagging = aGroup({
  name: 'broker-b',
  masterId: '2',
  isMasterAlive: false,
  syncStateSet: ['2'],
  replicas: [
    aReplica({ brokerId: '2', isMaster: true, isAlive: false, maxOffset: '4096' }),
    aReplica({ brokerId: '3', maxOffset: '1024' }),
    aReplica({ brokerId: '4', maxOffset: '4000' }),
  ],
});

function cellsOf(row: HTMLElement | undefined): (string | null)[] {
  return within(row as HTMLElement)
    .getAllByRole('cell')
    .map((cell) => cell.textContent);
}

test('a group is described by its master, its set and the largest gap', async () => {
  renderConsole('/replica-groups', {
    answers: { ReplicaGroups: () => groupPage([aGroup(), lagging]) },
  });

  const table = await screen.findByRole('table', { name: 'Replica groups' });
  const [, whole, lost] = within(table).getAllByRole('row');

  expect(cellsOf(whole)).toEqual(['broker-a', 'Replica 1', '17', '123', '41', '3 of 3', '0 B']);
  expect(cellsOf(lost)).toEqual([
    'broker-b',
    'Replica 2, lost',
    '17',
    '234',
    '41',
    'none of 1 alive',
    '3 KiB',
  ]);
  expect(
    within(lost as HTMLElement).getByRole('img', {
      name: 'In the set: 2, master 2, not heard: 2, outside: 3, 4',
    }),
  ).toBeVisible();
});

test('the list of groups is accessible', async () => {
  renderConsole('/replica-groups', {
    answers: { ReplicaGroups: () => groupPage([aGroup(), lagging]) },
  });
  await screen.findByRole('link', { name: 'broker-b' });

  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('the search goes into the address and to the server, and back to the first page', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/replica-groups?after=ImsxIg');
  await screen.findByRole('link', { name: 'broker-a' });

  await user.type(screen.getByLabelText('Find by name'), 'roker');

  await waitFor(() => expect(address()).toBe('/replica-groups?search=roker'));
  await waitFor(() =>
    expect(calls.findLast((one) => one.operation === 'ReplicaGroups')?.variables).toMatchObject({
      search: 'roker',
      after: null,
    }),
  );
});

test('pages follow each other by cursor, forth and back', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/replica-groups', {
    answers: {
      ReplicaGroups: ({ after }) =>
        after === 'ImsxIg'
          ? groupPage([aGroup({ name: 'broker-z' })], null, 2)
          : groupPage([aGroup()], 'ImsxIg', 2),
    },
  });
  await screen.findByRole('link', { name: 'broker-a' });

  await user.click(screen.getByRole('button', { name: 'Next' }));

  expect(await screen.findByRole('link', { name: 'broker-z' })).toBeVisible();
  expect(address()).toBe('/replica-groups?after=ImsxIg');

  await user.click(screen.getByRole('button', { name: 'Previous' }));

  expect(await screen.findByRole('link', { name: 'broker-a' })).toBeVisible();
  expect(address()).toBe('/replica-groups');
});

test('the order stands in the address', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/replica-groups', {
    answers: { ReplicaGroups: () => groupPage([aGroup(), lagging]) },
  });
  const table = await screen.findByRole('table', { name: 'Replica groups' });

  await user.click(within(table).getByRole('button', { name: 'Largest gap' }));

  await waitFor(() => expect(address()).toMatch(/sort=-?gap/));
  const links = within(table)
    .getAllByRole('link')
    .map((link) => link.textContent);
  expect(links).toEqual(
    address().endsWith('-gap') ? ['broker-b', 'broker-a'] : ['broker-a', 'broker-b'],
  );
});

test('a cluster of static groups shows how it gets a replica group', async () => {
  renderConsole('/replica-groups', { answers: { ReplicaGroups: () => groupPage([]) } });

  expect(await screen.findByText('This cluster has no replica group')).toBeVisible();
  expect(screen.getByText('regent up --groups 1 --replicas 3')).toBeVisible();
});

test('no match is not the same as no group', async () => {
  renderConsole('/replica-groups?search=x', { answers: { ReplicaGroups: () => groupPage([]) } });

  expect(await screen.findByText('No replica group matches')).toBeVisible();
});

test('an error says what to do next', async () => {
  renderConsole('/replica-groups', {
    answers: { ReplicaGroups: () => graphqlError('internal', 'The database is away.') },
  });

  expect(await screen.findByRole('alert')).toHaveTextContent('The database is away.');
  expect(screen.getByRole('button', { name: 'Try again' })).toBeVisible();
});

test('two keys lead to the groups', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/topics');
  await screen.findByRole('heading', { name: 'Topics', level: 1 });

  await user.keyboard('gr');

  await waitFor(() => expect(address()).toBe('/replica-groups'));
});

test('a broker leads to its group', async () => {
  const user = userEvent.setup();
  const { router } = renderConsole('/?cluster=regent');
  const brokers = await screen.findByRole('table', { name: 'Brokers' });

  await user.click(within(brokers).getByRole('link', { name: 'broker-a' }));

  await waitFor(() =>
    expect(router.state.location.href).toBe('/replica-groups/broker-a?cluster=regent'),
  );
});
