import { expect, test } from 'vitest';
import { aClient, aConnection } from '@/testing/client-builders';
import { addressesOf, versionsOf } from './client';

test('a client that is connected to many brokers has its address and version named once', () => {
  const client = aClient({
    connections: [
      aConnection(),
      aConnection({ groupName: 'broker-b', address: '10.0.0.7:50001' }),
      aConnection({ groupName: 'broker-c', address: '[::1]:9', versionName: null, version: 9 }),
    ],
  });

  expect(addressesOf(client)).toEqual(['10.0.0.7', '[::1]']);
  expect(versionsOf(client)).toEqual(['JAVA 5.5.0', 'JAVA 9']);
});
