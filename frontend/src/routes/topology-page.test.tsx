import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { aBroker, aTopology } from '@/testing/builders';
import { renderConsole } from '@/testing/render-console';

function threeBrokers() {
  return aTopology([
    aBroker({ address: '10.0.0.1:10911' }),
    aBroker({
      brokerId: '1',
      role: 'REPLICA',
      state: 'OFFLINE',
      address: '10.0.0.2:10911',
      lastHeartbeatAt: new Date(Date.now() - 2 * 3_600_000).toISOString(),
    }),
    aBroker({ brokerGroupName: 'broker-b', address: '10.0.0.3:10911' }),
  ]);
}

test('the picture has a table twin that says the same', async () => {
  renderConsole('/topology', { answers: { Topology: threeBrokers } });

  expect(await screen.findByRole('figure', { name: /Name servers above/ })).toBeInTheDocument();
  const servers = await screen.findByRole('table', { name: 'Name servers' });
  const brokers = screen.getByRole('table', { name: 'Brokers' });

  expect(within(servers).getByText('127.0.0.1:9876')).toBeVisible();
  expect(within(brokers).getAllByText('Master')).toHaveLength(2);
  expect(within(brokers).getByText('offline')).toBeVisible();
  expect(within(brokers).getByText('heard 2 h ago')).toBeVisible();
});

test('every group and broker is drawn, even where their ids are alike', async () => {
  const topology = threeBrokers();
  topology.cluster?.brokerGroups.nodes.forEach((group, index) => {
    group.id = String(index);
    for (const broker of group.brokers) broker.id = String(index * 2 + Number(broker.brokerId));
  });
  renderConsole('/topology', { answers: { Topology: () => topology } });

  const picture = await screen.findByRole('figure', { name: /Name servers above/ });

  for (const text of [
    'broker-a',
    'broker-b',
    '10.0.0.1:10911',
    '10.0.0.2:10911',
    '10.0.0.3:10911',
  ]) {
    expect(within(picture).getByText(text)).toBeInTheDocument();
  }
});

test('a replica that acts for its master is marked in the picture and in the table', async () => {
  const topology = aTopology([
    aBroker({ state: 'OFFLINE' }),
    aBroker({ name: 'broker-a-1', brokerId: '1', role: 'REPLICA' }),
  ]);
  const [group] = topology.cluster?.brokerGroups.nodes ?? [];
  if (group) group.actingBroker = 'broker-a-1';
  renderConsole('/topology', { answers: { Topology: () => topology } });

  const brokers = await screen.findByRole('table', { name: 'Brokers' });

  expect(within(brokers).getByText('Acting master')).toBeVisible();
  const picture = screen.getByRole('figure', { name: /Name servers above/ });
  expect(within(picture).getByText('broker-a-1, acting')).toBeInTheDocument();
});

test('the order of the table stands in the address', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/topology', { answers: { Topology: threeBrokers } });
  const table = await screen.findByRole('table', { name: 'Brokers' });

  await user.click(within(table).getByRole('button', { name: 'Address' }));

  expect(address()).toBe('/topology?sort=address');
  const header = within(table).getByRole('columnheader', { name: 'Address' });
  expect(header).toHaveAttribute('aria-sort', 'ascending');
});

test('more groups than are drawn are not passed over in silence', async () => {
  const names = Array.from({ length: 102 }, (_, index) => `broker-${index}`);
  const topology = aTopology(names.map((brokerGroupName) => aBroker({ brokerGroupName })));
  renderConsole('/topology', { answers: { Topology: () => topology } });

  expect(
    await screen.findByText('Only the first 100 of 102 broker groups are drawn'),
  ).toBeVisible();
});

test('a cluster that does not exist is said', async () => {
  renderConsole('/topology?cluster=gone', {
    answers: { Topology: () => ({ ...threeBrokers(), cluster: null }) },
  });

  expect(await screen.findByText('There is no cluster gone')).toBeVisible();
});
