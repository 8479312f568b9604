import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Property } from '@/features/brokers/broker';
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
  return renderConsole('/brokers/broker-a/0', {
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
