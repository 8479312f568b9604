import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { aBroker, aHealth, anOverview, aSample, aTopology, ratesOf } from '@/testing/builders';
import { graphqlError } from '@/testing/control-plane';
import { FakeSocket } from '@/testing/fake-socket';
import { openFindingsOf } from '@/testing/finding-builders';
import { renderConsole } from '@/testing/render-console';

async function tile(label: string) {
  const name = await screen.findByText(label, { selector: 'dt' });
  return within(name.parentElement as HTMLElement);
}

async function openStream(): Promise<FakeSocket> {
  await waitFor(() => expect(FakeSocket.last?.isSubscribedTo('Samples')).toBe(true));
  return FakeSocket.last as FakeSocket;
}

test('counts are shown with the time they were observed at', async () => {
  renderConsole('/', {
    answers: { Overview: () => anOverview({ brokerCount: 3, onlineBrokerCount: 2 }) },
  });

  const brokers = await tile('Brokers online');

  expect(brokers.getByText('2')).toBeVisible();
  expect(brokers.getByText('of 3')).toBeVisible();
  expect(brokers.getByText(/observed \d+ s ago/)).toBeVisible();
});

test('while a page is being read its place is held', async () => {
  renderConsole('/', { answers: { Overview: () => new Promise(() => undefined) } });

  expect((await screen.findAllByRole('status', { name: 'Loading' }))[0]).toBeVisible();
});

test('zero, unknown and not collected are three different words', async () => {
  renderConsole('/', {
    answers: {
      Overview: () => anOverview({ topicCount: 0 }),
      Topology: () =>
        aTopology([
          aBroker({
            latestSample: aSample({ messagesInPerSecond: null, messagesOutPerSecond: 0 }),
          }),
        ]),
    },
  });

  expect(await (await tile('Messages in')).findByText('unknown')).toBeVisible();
  expect(await (await tile('Messages out')).findByText('0')).toBeVisible();
  expect((await tile('Topics')).getByText('0')).toBeVisible();
  expect((await tile('Soonest full disk')).getByText('not collected')).toBeVisible();
});

test('a report without a forecast is distinguished from no report', async () => {
  const capacityReports = { nodes: [{ id: 'r1', status: 'done' }] };
  renderConsole('/', { answers: { Overview: () => ({ ...anOverview(), capacityReports }) } });

  const disk = await tile('Soonest full disk');

  expect(disk.getByText('unknown')).toBeVisible();
  expect(disk.getByText('The last report has no forecast')).toBeVisible();
});

test('a sample from the stream moves the rate of its broker and the sum', async () => {
  renderConsole('/');
  const socket = await openStream();
  await (await tile('Messages in')).findByText('20');

  act(() => socket.publish('Samples', { samples: aSample({ messagesInPerSecond: 990 }) }));

  expect(await (await tile('Messages in')).findByText('1,000')).toBeVisible();
  expect(await screen.findByRole('cell', { name: '990' })).toBeVisible();
});

test('a lost stream is said and a resumed one reads everything again', async () => {
  const { calls } = renderConsole('/');
  const socket = await openStream();
  expect(await screen.findByText('Live')).toBeVisible();
  const before = calls.filter((call) => call.operation === 'Topology').length;

  act(() => socket.close());

  expect(await screen.findByText(/Reconnecting since/)).toBeVisible();
  expect(await screen.findByText('Live')).toBeVisible();
  await waitFor(() =>
    expect(calls.filter((call) => call.operation === 'Topology').length).toBeGreaterThan(before),
  );
});

test('figures older than three intervals are called stale', async () => {
  const observedAt = new Date(Date.now() - 60_000).toISOString();
  renderConsole('/', {
    answers: { Topology: () => aTopology([aBroker({ latestSample: aSample({ observedAt }) })]) },
  });

  const table = await screen.findByRole('table', { name: 'Brokers' });

  expect(within(table).getByText(/stale since/)).toBeVisible();
});

test('a dead replica is named in the sentence of the control plane', async () => {
  // Case B1: the overview said that every broker was online.
  const sentence = 'broker-b: 1 of 2 replicas is alive. One more failure stops writes and reads.';
  renderConsole('/', { answers: { Health: () => aHealth({ verdict: 'DEGRADED', sentence }) } });

  const shown = await screen.findByText(sentence);

  expect(shown.closest('[data-tone]')).toHaveAttribute('data-tone', 'warn');
});

test('a group without a writer is bad, and what to enter stands apart', async () => {
  // Case A16: a drained broker in command was green.
  const sentence = 'broker-b has no writer. Uncordon it: `regent broker uncordon broker-b`.';
  renderConsole('/', { answers: { Health: () => aHealth({ verdict: 'CRITICAL', sentence }) } });

  const command = await screen.findByText('regent broker uncordon broker-b');

  expect(command.tagName).toBe('CODE');
  expect(command.closest('[data-tone]')).toHaveAttribute('data-tone', 'bad');
});

test('health that is not known is not good', async () => {
  renderConsole('/', {
    answers: { Health: () => aHealth({ verdict: 'UNKNOWN', sentence: 'It is not known.' }) },
  });

  const shown = await screen.findByText('It is not known.');

  expect(shown.closest('[data-tone]')).toHaveAttribute('data-tone', 'unknown');
});

test('health is asked for again when a broker is lost', async () => {
  // Case B1: within a second.
  const { calls } = renderConsole('/');
  const socket = await openStream();
  await waitFor(() => expect(socket.isSubscribedTo('Events')).toBe(true));
  const asked = () => calls.filter((call) => call.operation === 'Health').length;
  const before = asked();

  const lost = {
    number: '101',
    kind: 'broker.lost',
    clusterName: 'regent',
    subject: 'broker-b-0',
    brokerGroupName: 'broker-b',
    operationId: null,
    details: {},
  };
  act(() => socket.publish('Events', { events: lost }));

  await waitFor(() => expect(asked()).toBeGreaterThan(before));
});

test('the sentence is old news as soon as the connection is gone', async () => {
  // Case B12: it stayed green for 13 s.
  const healthy = 'All 2 broker groups are healthy: 4 of 4 brokers are alive.';
  let isAway = false;
  renderConsole('/', {
    answers: { Health: () => (isAway ? new Promise(() => undefined) : aHealth()) },
  });
  const socket = await openStream();
  expect(await screen.findByText(new RegExp(`^${healthy}`))).toBeVisible();

  isAway = true;
  act(() => socket.close());

  const shown = await screen.findByText(new RegExp(`^Last seen \\d+ s ago: ${healthy}`));
  expect(shown.closest('[data-tone]')).toHaveAttribute('data-tone', 'unknown');

  // A page that goes while it connects again would reject a promise of the library.
  expect(await screen.findByText('Live')).toBeVisible();
});

/** A cluster of so many groups that each answer holds one of them. */
function groupByGroup(groupCount: number) {
  return ({ after }: Record<string, unknown>) => {
    const index = after === null ? 0 : Number(after);
    const isLast = index === groupCount - 1;
    const topology = aTopology([aBroker({ brokerGroupName: `broker-${index}` })]);
    if (topology.cluster) {
      topology.cluster.brokerGroups.totalCount = groupCount;
      const endCursor = String(index + 1);
      topology.cluster.brokerGroups.pageInfo = { hasNextPage: !isLast, endCursor };
    }
    return topology;
  };
}

test('a table of a cluster too big to be read whole is not called complete', async () => {
  renderConsole('/', { answers: { Topology: groupByGroup(25) } });

  expect(await screen.findByText('Only the first 20 of 25 broker groups are shown')).toBeVisible();
});

test('a cluster that can not be asked any more is not called healthy, but what it was', async () => {
  let isAway = false;
  const { queryClient } = renderConsole('/', {
    answers: {
      Health: () => (isAway ? graphqlError('unavailable', 'away') : aHealth()),
      OpenFindings: () => (isAway ? graphqlError('unavailable', 'away') : openFindingsOf()),
    },
  });
  const healthy =
    'All 2 broker groups are healthy: 4 of 4 brokers are alive. One more failure stops no group.';
  expect(await screen.findByText(healthy)).toBeVisible();
  expect(await screen.findByText('No finding is open.')).toBeVisible();

  isAway = true;
  await act(() => queryClient.refetchQueries({ type: 'active' }));

  expect(await screen.findByText(new RegExp(`^Last seen \\d+ s ago: ${healthy}`))).toBeVisible();
  expect(await screen.findByText(/^Last seen \d+ s ago: No finding is open/)).toBeVisible();
  expect(screen.queryByText(healthy)).toBeNull();
});

test('an online broker without a sample is named', async () => {
  renderConsole('/', {
    answers: {
      Topology: () => aTopology([aBroker(), aBroker({ brokerGroupName: 'b', latestSample: null })]),
    },
  });

  expect(await screen.findByText('One online broker has sent no sample')).toBeVisible();
  expect(screen.getByText(/Missing from the sums: b-0/)).toBeVisible();
});

test('without a cluster the page says what would bring one', async () => {
  renderConsole('/', {
    answers: { Clusters: () => ({ clusters: { totalCount: 0, nodes: [] } }) },
  });

  expect((await screen.findAllByText('No cluster has registered yet'))[0]).toBeVisible();
});

test('a user of some clusters sees which, and no advice to start a broker', async () => {
  renderConsole('/', {
    clusterLimits: [['other-*', 'spare']],
    answers: { Clusters: () => ({ clusters: { totalCount: 0, nodes: [] } }) },
  });

  expect((await screen.findAllByText(/clusters named other-\*, spare\./))[0]).toBeVisible();
  expect(screen.queryByText(/Start a broker/)).toBeNull();
});

test('an error carries its code and a way to try again', async () => {
  renderConsole('/', { answers: { Overview: () => graphqlError('internal', 'It broke.') } });

  const alert = await screen.findByRole('alert');

  expect(alert).toHaveTextContent('It broke.');
  expect(within(alert).getByText('internal')).toBeVisible();
  expect(within(alert).getByRole('button', { name: 'Try again' })).toBeVisible();
});

test('an answer with holes shows what there is and names the rest', async () => {
  const partial = graphqlError('internal', 'broker-b timed out', aTopology([aBroker()]));
  renderConsole('/', { answers: { Topology: () => partial } });

  expect(await screen.findByRole('table', { name: 'Brokers' })).toBeVisible();
  expect(await screen.findByText('One part of this page could not be read')).toBeVisible();
  expect(screen.getByText(/broker-b timed out/)).toBeVisible();
});

test('groups that could not be read are not taken for none', async () => {
  const unread = graphqlError('internal', 'It broke.', { ...aTopology([]), cluster: null });
  const away = graphqlError('internal', 'It broke.');
  renderConsole('/', { answers: { Topology: () => unread, Health: () => away } });

  expect(await screen.findByText('The state of the cluster is unknown.')).toBeVisible();
  expect(await screen.findByRole('alert')).toHaveTextContent('It broke.');
  expect(screen.queryByText('No broker has registered yet')).not.toBeInTheDocument();
});

test('the rates are also a table, and the address says so', async () => {
  renderConsole('/?rates=table');

  const table = await screen.findByRole('table', { name: /Messages per second/ });

  expect(within(table).getByRole('cell', { name: '20' })).toBeVisible();
});

test('what was observed before the console was opened is there at once', async () => {
  renderConsole('/?rates=table', { answers: { Rates: () => ratesOf([[60, 1234]]) } });

  const table = await screen.findByRole('table', { name: /over the last 30 minutes/ });

  expect((await within(table).findAllByRole('cell', { name: '1,234' })).length).toBe(2);
});

test('a day is asked for as such, and the address says so', async () => {
  const { calls } = renderConsole('/?rates=table', {
    answers: {
      Rates: ({ minutes }) => ratesOf(minutes === 1_440 ? [[7_200, 42]] : [[60, 7]]),
    },
  });
  await screen.findByRole('table', { name: /over the last 30 minutes/ });

  await userEvent.click(screen.getByRole('radio', { name: '24 hours' }));

  const table = await screen.findByRole('table', { name: /over the last 24 hours/ });
  expect((await within(table).findAllByRole('cell', { name: '42' })).length).toBe(2);
  expect(within(table).queryByRole('cell', { name: '20' })).not.toBeInTheDocument();
  expect(calls.filter(({ operation }) => operation === 'Rates').at(-1)?.variables).toEqual({
    minutes: 1_440,
  });
});

test('a day of which nothing is whole yet says what comes next', async () => {
  renderConsole('/?span=day');

  expect(await screen.findByText('No interval of five minutes is complete yet')).toBeVisible();
});

test('a past that cannot be read hides nothing of the present', async () => {
  renderConsole('/?rates=table', {
    answers: { Rates: () => graphqlError('internal', 'Redis is away.') },
  });

  const table = await screen.findByRole('table', { name: /Messages per second/ });

  expect(within(table).getByRole('cell', { name: '20' })).toBeVisible();
  expect(await screen.findByRole('alert')).toHaveTextContent('Redis is away.');
});
