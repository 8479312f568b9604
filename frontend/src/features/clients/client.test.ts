import { expect, test } from 'vitest';
import { aClient, aConnection } from '@/testing/client-builders';
import { addressesOf, versionsOf } from './client';

test('a client that is connected to many brokers has its address and version named once', () => {
  const client = aClient({
    connections: [
      aConnection(),
      aConnection({ brokerName: 'broker-b-0', address: '10.0.0.7:50001' }),
      aConnection({ brokerName: 'broker-c-0', address: '[::1]:9', versionName: null, version: 9 }),
    ],
  });

  expect(addressesOf(client)).toEqual(['10.0.0.7', '[::1]']);
  expect(versionsOf(client)).toEqual(['JAVA 5.5.0', 'JAVA 9']);
});
