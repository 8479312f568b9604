import { expect, test } from 'vitest';
import { aBroker, aTopology } from '@/testing/builders';
import { groupViews } from './broker-view';
import { type Box, layOut } from './topology-layout';

function place(groupCount: number, replicaCount = 1) {
  const names = Array.from({ length: groupCount }, (_, index) => `broker-${index}`);
  const brokers = names.flatMap((brokerGroupName) => [
    aBroker({ brokerGroupName }),
    ...Array.from({ length: replicaCount }, (_, index) =>
      aBroker({ brokerGroupName, brokerId: String(index + 1), role: 'REPLICA' }),
    ),
  ]);
  const topology = aTopology(brokers);
  return layOut(topology.nameServers, groupViews(topology, {}));
}

function overlap(left: Box, right: Box): boolean {
  return (
    left.x < right.x + right.width &&
    right.x < left.x + left.width &&
    left.y < right.y + right.height &&
    right.y < left.y + left.height
  );
}

test('no two groups overlap, however many there are', () => {
  const boxes = place(40, 2).groups.map((group) => group.box);

  const clashes = boxes.flatMap((left, index) =>
    boxes.slice(index + 1).filter((right) => overlap(left, right)),
  );

  expect(clashes).toEqual([]);
});

test('the master stands above its replicas and every broker inside its group', () => {
  const [group] = place(1, 3).groups;
  const master = group?.brokers.get('broker-0/0');
  const replicas = ['1', '2', '3'].map((id) => group?.brokers.get(`broker-0/${id}`));

  for (const replica of replicas) {
    expect(replica?.y).toBeGreaterThan(master?.y ?? Number.POSITIVE_INFINITY);
    expect((replica?.x ?? 0) + (replica?.width ?? 0)).toBeLessThanOrEqual(group?.box.width ?? 0);
    expect((replica?.y ?? 0) + (replica?.height ?? 0)).toBeLessThanOrEqual(group?.box.height ?? 0);
  }
});

test('a link to a replica that is offline is not alive', () => {
  const topology = aTopology([
    aBroker(),
    aBroker({ brokerId: '1', role: 'REPLICA', state: 'OFFLINE' }),
  ]);

  const { links } = layOut(topology.nameServers, groupViews(topology, {}));

  expect(links).toContainEqual({
    from: 'broker broker-a/0',
    to: 'broker broker-a/1',
    alive: false,
  });
  expect(links).toContainEqual({
    from: 'name-server 127.0.0.1:9876',
    to: 'group broker-a',
    alive: true,
  });
});
