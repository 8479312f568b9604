import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { graphqlError } from '@/testing/control-plane';
import { FakeSocket } from '@/testing/fake-socket';
import {
  aChange,
  aGroup,
  aHistory,
  anElection,
  aReplica,
  changePage,
  electionAnswer,
  epochsAnswer,
  groupDetail,
  obstaclesAnswer,
} from '@/testing/group-builders';
import { actingGroup, aMember, groupMembers } from '@/testing/group-member-builders';
import { anOperation } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const path = '/replica-groups/broker-a';

const noWinner = anElection([
  ['1', 'NOT_ALIVE', 'is not alive'],
  ['2', 'NOT_IN_SYNC', 'is outside the SyncStateSet and may lack acknowledged messages'],
]);

const lost = aGroup({
  isMasterAlive: false,
  leaseLeftMs: '0',
  syncStateSet: ['1'],
  replicas: [
    aReplica({ isAlive: false, isVerified: null, maxOffset: null, lastHeartbeatAt: null }),
    aReplica({ brokerId: '2', isInSync: false, maxOffset: null }),
  ],
});

test('a group says who leads it, who is in sync and what the controller would do', async () => {
  renderConsole(path);

  expect(
    await screen.findByText('Replica 1 is master. An election now would change nothing.'),
  ).toBeVisible();
  expect(screen.getByText('3 of 3 in sync, epoch 41')).toBeVisible();
  expect(screen.getByText('2.4 s left')).toBeVisible();
  expect(screen.getByText('quorum policy')).toBeVisible();
});

test('a group of which all are dead says that none is alive, and since when', async () => {
  const at = new Date(Date.now() - 3 * 60_000).toISOString();
  const replicas = ['1', '2', '3'].map((brokerId) =>
    aReplica({
      brokerId,
      isAlive: false,
      maxOffset: null,
      isInSync: brokerId !== '3',
      lastHeartbeatAt: brokerId === '3' ? null : at,
    }),
  );
  const group = aGroup({ isMasterAlive: false, syncStateSet: ['1', '2'], replicas });
  renderConsole(path, { answers: { ReplicaGroup: () => groupDetail(group, noWinner) } });

  expect(await screen.findByText('2 of 3 in the set, none alive, epoch 41')).toBeVisible();
  const table = await screen.findByRole('table', { name: 'Replicas' });
  expect(within(table).getAllByText(/^last heard .+, 3 min ago$/)).toHaveLength(2);
  expect(within(table).getByText('last heard: unknown')).toBeVisible();
});

test('the page of a group is accessible', async () => {
  renderConsole(path);
  await screen.findByRole('table', { name: 'History' });
  await screen.findByRole('figure', { name: /The log of each replica/ });

  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('every replica says where its log ends and why it would not win', async () => {
  const group = aGroup();
  group.replicas[2] = aReplica({ brokerId: '3', maxOffset: '15262929088' });
  renderConsole(path, { answers: { ReplicaGroup: () => groupDetail(group) } });

  const table = await screen.findByRole('table', { name: 'Replicas' });
  const [, master, , behind] = within(table).getAllByRole('row') as HTMLElement[];

  expect(within(master as HTMLElement).getByRole('img', { name: 'Master' })).toBeVisible();
  expect(within(master as HTMLElement).getByText('is master and stays master')).toBeVisible();
  expect(within(behind as HTMLElement).getByText('15,262,929,088')).toBeVisible();
  expect(within(behind as HTMLElement).getByText('1 KiB')).toBeVisible();
  expect(
    within(behind as HTMLElement).getByText(
      'no: can become master, but the current master is alive',
    ),
  ).toBeVisible();
});

test('a replica that does not follow says why and what to do', async () => {
  const said = "Copy this broker's store, then start it with nothing in it but .broker.meta";
  renderConsole(path, { answers: { GroupObstacles: () => obstaclesAnswer([null, null, said]) } });

  expect(await screen.findByText('Replica 3 does not follow its master')).toBeVisible();
  expect(screen.getByText(said)).toBeVisible();
  expect(screen.queryByText('Replica 2 does not follow its master')).toBeNull();
});

test('a group without a possible master says why, and unknown is not zero', async () => {
  renderConsole(path, { answers: { ReplicaGroup: () => groupDetail(lost, noWinner) } });

  expect(
    await screen.findByText(/^No replica can become master now: 1 is not alive; 2 is outside/),
  ).toBeVisible();
  const table = await screen.findByRole('table', { name: 'Replicas' });
  const [, silent, outside] = within(table).getAllByRole('row') as HTMLElement[];

  expect(screen.getByText('Replica 1, lost')).toBeVisible();
  expect(screen.getByText('none runs')).toBeVisible();
  expect(within(silent as HTMLElement).getByText('not heard')).toBeVisible();
  expect(within(silent as HTMLElement).getAllByText('not collected')).toHaveLength(2);
  expect(within(outside as HTMLElement).getAllByText('unknown')).toHaveLength(2);
});

test('choosing a replica shows what an order would do, and stands in the address', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole(path, {
    answers: {
      DesignatedElection: ({ brokerId }) =>
        electionAnswer(
          brokerId === '2'
            ? anElection([['2', 'WINS', 'would become master']])
            : anElection([['3', 'NOT_ALIVE', 'is not alive']]),
        ),
    },
  });
  await screen.findByRole('table', { name: 'Replicas' });

  await user.click(screen.getByRole('combobox', { name: 'New master' }));
  await user.click(await screen.findByRole('option', { name: 'Replica 2' }));

  expect(
    await screen.findByText(/^Replica 2 would become master in epoch 18, with itself alone/),
  ).toBeVisible();
  expect(address()).toContain('designate=');
  expect(calls.findLast((call) => call.operation === 'DesignatedElection')?.variables).toEqual({
    clusterName: 'regent',
    brokerGroupName: 'broker-a',
    brokerId: '2',
  });

  await user.click(screen.getByRole('combobox', { name: 'New master' }));
  await user.click(await screen.findByRole('option', { name: 'Replica 3' }));

  expect(await screen.findByText('Refused: replica 3 is not alive.')).toBeVisible();
});

test('the epochs have a table twin that says the same', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole(path);
  const figure = await screen.findByRole('figure', { name: /The log of each replica/ });
  expect(within(figure).getByRole('img', { name: 'Log of replica 2, epochs 1, 2' })).toBeVisible();

  await user.click(screen.getByRole('radio', { name: 'Table' }));

  const table = await screen.findByRole('table', { name: 'Epochs of the logs' });
  const cells = within(within(table).getAllByRole('row')[1] as HTMLElement).getAllByRole('cell');
  expect(cells.map((cell) => cell.textContent)).toEqual([
    '2',
    '1',
    '1,000',
    '4,000',
    '2.9 KiB',
    'may still grow',
  ]);
  expect(address()).toBe(`${path}?epochs=table`);
});

test('the lane of a log that holds nothing says so', async () => {
  const begun = aHistory({
    maxOffset: '0',
    epochs: [{ epoch: 1, startOffset: '0', endOffset: null }],
  });
  const untouched = aHistory({ brokerId: '2', maxOffset: '0', epochs: [] });
  renderConsole(path, { answers: { GroupEpochs: () => epochsAnswer([begun, untouched]) } });

  expect(await screen.findByText('empty: epoch 1 has begun and written nothing yet')).toBeVisible();
  expect(screen.getByText('empty: nothing has been written yet')).toBeVisible();
});

test('a replica that did not answer says why, and an epoch that differs is marked', async () => {
  const silent = aHistory({ brokerId: '3', epochs: null, maxOffset: null, error: 'timed out' });
  renderConsole(path, {
    answers: {
      GroupEpochs: () => epochsAnswer([aHistory(), aHistory({ brokerId: '2' }), silent], 2),
    },
  });

  expect(await screen.findByText('2 of 3 replicas answered')).toBeVisible();
  expect(screen.getByText('unknown: timed out')).toBeVisible();
  expect(screen.getByText('Epoch 2 begins at different places')).toBeVisible();
});

test('history says what changed, also where its page ends', async () => {
  const user = userEvent.setup();
  const founded = aChange({ id: '1', syncStateSet: ['1'] });
  const joined = aChange({
    id: '2',
    kind: 'SYNC_STATE_SET_ALTERED',
    cause: 'master 1 asked',
    syncStateSet: ['1', '2'],
    syncStateSetEpoch: 2,
  });
  const { address } = renderConsole(path, {
    answers: {
      GroupChanges: ({ after }) =>
        after === 'ImsyIg' ? changePage([founded], null, 2) : changePage([joined], 'ImsyIg', 2),
    },
  });
  const table = await screen.findByRole('table', { name: 'History' });

  expect(await within(table).findByText('Replica 2 came into the set')).toBeVisible();
  expect(within(table).getByText('master 1 asked')).toBeVisible();

  await user.click(screen.getByRole('button', { name: 'Next' }));

  expect(await screen.findByText('Replica 1 was made master')).toBeVisible();
  expect(address()).toBe(`${path}?after=ImsyIg`);

  await user.click(screen.getByRole('button', { name: 'Previous' }));

  await waitFor(() => expect(address()).toBe(path));
});

test('a change of the cluster is shown without a manual refresh', async () => {
  let master = '1';
  renderConsole(path, {
    answers: {
      ReplicaGroup: () =>
        groupDetail(
          aGroup({ masterId: master }),
          anElection([[master, 'STAYS', 'is master and stays master']]),
        ),
    },
  });
  await screen.findByText(/^Replica 1 is master/);
  await waitFor(() => expect(FakeSocket.last?.isSubscribedTo('TopologyChanged')).toBe(true));

  master = '2';
  FakeSocket.last?.publish('TopologyChanged', {
    topologyChanged: { clusterName: 'regent', routeVersion: '8' },
  });

  expect(await screen.findByText(/^Replica 2 is master/)).toBeVisible();
});

test('a group that is not there is said', async () => {
  renderConsole(path, { answers: { ReplicaGroup: () => groupDetail(null) } });

  expect(await screen.findByText('There is no broker group broker-a in regent')).toBeVisible();
});

test('a group that could not be read says why', async () => {
  const unread = graphqlError('internal', 'The database is away.', {
    cluster: { id: 'c1', replicaGroup: null },
  });
  renderConsole(path, { answers: { ReplicaGroup: () => unread } });

  expect(await screen.findByRole('alert')).toHaveTextContent('The database is away.');
  expect(screen.queryByText(/There is no broker group/)).not.toBeInTheDocument();
});

test('a group without a writer says so first, and no green mark contradicts it', async () => {
  // Case A16.
  const sentence = 'broker-a has no writer: its master broker-a-1 is cordoned.';
  const health = { verdict: 'CRITICAL', sentence, hasWriter: false } as const;
  const group = aGroup({ replicas: [aReplica({ isCordoned: true })] });
  renderConsole('/replica-groups/broker-a', {
    answers: { ReplicaGroup: () => groupDetail(group, anElection(), health) },
  });

  const said = await screen.findByText(sentence);
  const decision = screen.getByText(/^Replica 1 is master/);

  expect(said.closest('[data-tone]')).toHaveAttribute('data-tone', 'bad');
  expect(decision.closest('[data-tone]')).toHaveAttribute('data-tone', 'idle');
  expect(screen.getByText('Cordoned: takes no messages')).toBeVisible();
});

test('an election that left a group without a writer says so in the history', async () => {
  // Case A16.
  const warning = 'broker-a has no writer: its master broker-a-2 is cordoned';
  renderConsole('/replica-groups/broker-a', {
    answers: { GroupChanges: () => changePage([aChange({ masterId: '2', warning })]) },
  });

  const reported = await screen.findByText(warning);

  expect(reported.closest('[data-tone]')).toHaveAttribute('data-tone', 'bad');
});

test('a group without a controller says who acts, since when, and what its master waits for', async () => {
  renderConsole(path, {
    answers: {
      ReplicaGroup: () => groupDetail(null),
      BrokerGroupMembers: () => groupMembers(actingGroup),
    },
  });

  expect(await screen.findByText(/^broker-a-1 acts for the absent master since/)).toBeVisible();
  expect(screen.getByText('acting master')).toBeVisible();
  const table = within(screen.getByRole('table', { name: 'Brokers of the group' }));
  for (const text of [
    'comes online',
    'It waits until the replica 127.0.0.1:10912 copies its log.',
    'acts as master',
  ]) {
    expect(table.getByText(text)).toBeVisible();
  }
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('the last heartbeat of a broker is a warning only once the broker is silent', async () => {
  const past = new Date(Date.now() - 180_000).toISOString();
  const members = [
    aMember(),
    aMember({ name: 'broker-a-1', phase: 'SILENT', lastHeartbeatAt: past }),
  ];
  renderConsole(path, {
    answers: {
      ReplicaGroup: () => groupDetail(null),
      BrokerGroupMembers: () => groupMembers({ ...actingGroup, members }),
    },
  });

  const table = within(await screen.findByRole('table', { name: 'Brokers of the group' }));
  const [, living, silent] = table.getAllByRole('row') as HTMLElement[];
  const time = within(living as HTMLElement).getByText(/^\d+ s ago$/);
  expect(time).toHaveAttribute('data-stale', 'false');
  expect(within(silent as HTMLElement).getByText('heard 3 min ago')).toBeVisible();
});

test.each([
  ['To acting-master mode…', 'ACTING_MASTER', {}],
  ['To controller mode…', 'CONTROLLER', { ReplicaGroup: () => groupDetail(null) }],
])('%s goes by way of a plan', async (word, mode, more) => {
  const user = userEvent.setup();
  const { calls } = renderConsole(path, {
    answers: {
      ...more,
      BrokerGroupMembers: () => groupMembers(actingGroup),
      PlanOperation: () => ({ operation: anOperation() }),
    },
  });

  await user.click(await screen.findByRole('button', { name: word }));

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
      switchGroupMode: { clusterName: 'regent', brokerGroupName: 'broker-a', mode },
    }),
  );
});
