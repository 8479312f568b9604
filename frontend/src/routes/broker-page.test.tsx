import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Property } from '@/features/brokers/broker';
import { brokerOf } from '@/features/brokers/broker-queries';
import { type Heard, routesChanged } from '@/lib/live/heeds';
import { aBroker } from '@/testing/builders';
import { actingGroup, groupMembers } from '@/testing/group-member-builders';
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

test('a highest value that is only what 64 bits hold is not shown as a limit', async () => {
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
  const [reported, value, offered, senseless] = row;
  renderBroker([aProperty({ value })]);

  expect(await screen.findByText(reported)).toBeVisible();

  expect(screen.getByRole('button', { name: offered })).toBeEnabled();
  expect(screen.queryByRole('button', { name: senseless })).toBeNull();
});

test('a broker that does not report whether it is cordoned can be both cordoned and uncordoned', async () => {
  renderBroker([aProperty({ name: 'slaveTimeout' })]);

  await screen.findByRole('table', { name: 'Settings' });

  expect(screen.getByRole('button', { name: 'Cordon…' })).toBeEnabled();
  expect(screen.getByRole('button', { name: 'Uncordon…' })).toBeEnabled();
});

test('a broker that its controller alone still knows can be forgotten, and no more', async () => {
  // Case B1: a killed master, whose registered id has passed to its successor.
  const lost = aBroker({ brokerId: '2', role: 'REPLICA', state: 'OFFLINE', isRegistered: false });
  renderConsole('/brokers/broker-a-2', {
    answers: { BrokerPage: () => ({ broker: { ...lost, protection: null, replica: null } }) },
  });

  expect(await screen.findByRole('button', { name: 'Forget…' })).toBeEnabled();

  expect(screen.queryByRole('button', { name: 'Drain…' })).toBeNull();
  expect(screen.queryByRole('button', { name: 'Cordon…' })).toBeNull();
});

test.each([
  ['/brokers/broker-a/0?search=flush', 'broker-a/0'],
  ['/brokers/broker-a-0?search=flush', 'broker-a-0'],
])(
  'an address that names the role, %s, leads to the broker that has the role now',
  async (address, asked) => {
    // Case B2: after an election the same address was another machine.
    const master = { ...aBroker({ brokerId: '0', ownId: '2' }), protection: null, replica: null };
    const { router, calls } = renderConsole(address, {
      answers: { BrokerPage: () => ({ broker: master }) },
    });

    expect(await screen.findByRole('heading', { name: 'broker-a-2' })).toBeVisible();

    expect(router.state.location.pathname).toBe('/brokers/broker-a-2');
    expect(router.state.location.search).toMatchObject({ search: 'flush' });
    const names = calls
      .filter((call) => call.operation === 'BrokerPage')
      .map((call) => call.variables.brokerName);
    expect(names.slice(0, 2)).toEqual([asked, 'broker-a-2']);
  },
);

test('the settings are asked of the broker by its own id once its name is known', async () => {
  const broker = { ...aBroker({ brokerId: '0', ownId: '2' }), protection: null, replica: null };
  const { calls } = renderConsole('/brokers/broker-a-2', {
    answers: { BrokerPage: () => ({ broker }) },
  });

  await screen.findByRole('table', { name: 'Settings' });

  expect(calls.find((call) => call.operation === 'BrokerConfig')?.variables).toEqual({
    clusterName: 'regent',
    brokerGroupName: 'broker-a',
    brokerId: '2',
  });
});

test('an event of the broker, its group or an operation on it has the page asked again', async () => {
  const broker = { ...aBroker({ brokerId: '0', ownId: '2' }), protection: null, replica: null };
  const { meta } = brokerOf('regent', broker.name);
  const heard = (change: Partial<Heard>) =>
    meta?.heeds?.({ ...routesChanged('regent'), kind: 'step.done', ...change });

  expect(heard({ kind: 'broker.lost', subject: 'broker-a-2', brokerGroupName: 'broker-a' })).toBe(
    true,
  );
  expect(heard({ subject: 'broker-a-2' })).toBe(true);
  expect(heard({ subject: 'broker-a/10.0.0.2:10911' })).toBe(true);
  expect(
    heard({ kind: 'group.master_elected', subject: 'broker-b', brokerGroupName: 'broker-b' }),
  ).toBe(false);
  expect(heard({ subject: 'orders' })).toBe(false);
});

test('a replica that acts for its master says so on its page', async () => {
  const replica = aBroker({ name: 'broker-a-1', brokerId: '1', ownId: '1', role: 'REPLICA' });
  renderConsole('/brokers/broker-a-1', {
    answers: {
      BrokerPage: () => ({ broker: { ...replica, protection: null, replica: null } }),
      BrokerConfig: () => ({ brokerConfig: { address: replica.address, properties: [] } }),
      BrokerGroupMembers: () => groupMembers(actingGroup),
    },
  });

  const panel = within(await screen.findByRole('region', { name: 'In its broker group' }));

  expect(panel.getByText('acts as master')).toBeVisible();
  expect(screen.getByText(/^broker-a-1 acts for the absent master since/)).toBeVisible();
});
