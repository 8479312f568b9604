import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Property } from '@/features/brokers/broker';
import { aBroker } from '@/testing/builders';
import { renderConsole } from '@/testing/render-console';

function aProperty(change: Partial<Property>): Property {
  return {
    name: 'brokerPermission',
    value: '6',
    stored: null,
    default: null,
    effect: 'LIVE',
    type: 'INTEGER',
    low: '0',
    high: '15',
    choices: [],
    ...change,
  };
}

function renderBroker(properties: Property[]) {
  const brokerConfig = { address: '127.0.0.1:10911', properties };
  return renderConsole('/brokers/broker-a-0', {
    answers: { BrokerConfig: () => ({ brokerConfig }) },
  });
}

test('a highest value that is only what 64 bits hold is not told as a limit', async () => {
  const high = '9223372036854775807';
  renderBroker([
    aProperty({ name: 'brokerId', high }),
    aProperty({ name: 'diskReserve', type: 'BYTES', low: '1024', high }),
    aProperty({}),
  ]);

  const table = await screen.findByRole('table', { name: 'Settings' });

  for (const range of ['0 or more', '1,024 bytes or more', '0 to 15']) {
    expect(within(table).getByText(range)).toBeVisible();
  }
});

test.each([
  ['may write', '6', 'Cordon…', 'Uncordon…'],
  ['cordoned: not writable', '4', 'Uncordon…', 'Cordon…'],
])('to a broker whose producers are told as "%s" only what applies is offered', async (...row) => {
  const [told, value, offered, senseless] = row;
  renderBroker([aProperty({ value })]);

  expect(await screen.findByText(told)).toBeVisible();

  expect(screen.getByRole('button', { name: offered })).toBeEnabled();
  expect(screen.queryByRole('button', { name: senseless })).toBeNull();
});

test('a broker that does not tell whether it is cordoned can be both cordoned and uncordoned', async () => {
  renderBroker([aProperty({ name: 'slaveTimeout' })]);

  await screen.findByRole('table', { name: 'Settings' });

  expect(screen.getByRole('button', { name: 'Cordon…' })).toBeEnabled();
  expect(screen.getByRole('button', { name: 'Uncordon…' })).toBeEnabled();
});

test('a broker that its controller alone still knows can be forgotten, and no more', async () => {
  // Case B1: a killed master, whose registered id has passed to its successor.
  const lost = aBroker({ brokerId: '2', role: 'REPLICA', state: 'OFFLINE', isRegistered: false });
  const group = { id: 'broker-a', name: 'broker-a', clusterName: 'regent' };
  renderConsole('/brokers/broker-a-2', {
    answers: {
      BrokerPage: () => ({
        cluster: {
          id: 'c1',
          brokerGroup: { ...group, mode: 'CONTROLLER', brokers: [{ ...lost, protection: null }] },
          replicaGroup: null,
        },
      }),
    },
  });

  expect(await screen.findByRole('button', { name: 'Forget…' })).toBeEnabled();

  expect(screen.queryByRole('button', { name: 'Drain…' })).toBeNull();
  expect(screen.queryByRole('button', { name: 'Cordon…' })).toBeNull();
});

test.each(['/brokers/broker-a/0?search=flush', '/brokers/broker-a-0?search=flush'])(
  'an address that names the role, %s, leads to the broker that has the role now',
  async (address) => {
    // Case B2: after an election the same address was another machine.
    const group = { id: 'broker-a', name: 'broker-a', clusterName: 'regent', mode: 'CONTROLLER' };
    const brokers = [
      { ...aBroker({ brokerId: '1', role: 'REPLICA' }), protection: null },
      { ...aBroker({ brokerId: '0', ownId: '2' }), protection: null },
    ];
    const { router } = renderConsole(address, {
      answers: {
        BrokerPage: () => ({
          cluster: { id: 'c1', brokerGroup: { ...group, brokers }, replicaGroup: null },
        }),
      },
    });

    expect(await screen.findByRole('heading', { name: 'broker-a-2' })).toBeVisible();

    expect(router.state.location.pathname).toBe('/brokers/broker-a-2');
    expect(router.state.location.search).toMatchObject({ search: 'flush' });
  },
);
