import type { GroupView, NameServerView } from './broker-view';
import { isOnline } from './broker-view';

export type Box = { x: number; y: number; width: number; height: number };
export type PlacedGroup = { group: GroupView; box: Box; brokers: Map<string, Box> };
export type PlacedTopology = {
  nameServers: { server: NameServerView; box: Box }[];
  groups: PlacedGroup[];
  links: { from: string; to: string; alive: boolean }[];
};

/** Ids are unique within their kind only, so a picture of several kinds adds the kind. */
export const nodeId = {
  nameServer: (address: string) => `name-server ${address}`,
  group: (id: string) => `group ${id}`,
  broker: (id: string) => `broker ${id}`,
};

const brokerWidth = 206;
const brokerHeight = 74;
const serverWidth = 206;
const serverHeight = 54;
const gap = 24;
const padding = 14;
const titleHeight = 30;
const layerGap = 64;
const rowWidthMax = 1500;

function placeGroup(group: GroupView): PlacedGroup {
  const masters = group.brokers.filter((broker) => broker.role === 'MASTER');
  const replicas = group.brokers.filter((broker) => broker.role === 'REPLICA');
  const layers = [masters, replicas].filter((layer) => layer.length > 0);
  const widest = Math.max(1, ...layers.map((layer) => layer.length));
  const inner = widest * brokerWidth + (widest - 1) * gap;
  const brokers = new Map<string, Box>();
  layers.forEach((layer, depth) => {
    const layerWidth = layer.length * brokerWidth + (layer.length - 1) * gap;
    layer.forEach((broker, index) => {
      brokers.set(broker.id, {
        x: padding + (inner - layerWidth) / 2 + index * (brokerWidth + gap),
        y: titleHeight + depth * (brokerHeight + gap + 8),
        width: brokerWidth,
        height: brokerHeight,
      });
    });
  });
  const depth = Math.max(1, layers.length);
  const height = titleHeight + depth * brokerHeight + (depth - 1) * (gap + 8) + padding;
  return { group, box: { x: 0, y: 0, width: inner + 2 * padding, height }, brokers };
}

function intoRows(groups: PlacedGroup[]): PlacedGroup[][] {
  const rows: PlacedGroup[][] = [];
  let width = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    if (width + group.box.width > rowWidthMax) {
      rows.push([]);
      width = 0;
    }
    rows.at(-1)?.push(group);
    width += group.box.width + gap;
  }
  return rows;
}

function centre<T extends { box: Box }>(row: T[], y: number): void {
  const width = row.reduce((sum, item) => sum + item.box.width, 0) + (row.length - 1) * gap;
  let x = -width / 2;
  for (const item of row) {
    item.box = { ...item.box, x, y };
    x += item.box.width + gap;
  }
}

/** Lays name servers above the broker groups, and in each group the master above its replicas. */
export function layOut(nameServers: NameServerView[], groups: GroupView[]): PlacedTopology {
  const servers = nameServers.map((server) => ({
    server,
    box: { x: 0, y: 0, width: serverWidth, height: serverHeight },
  }));
  centre(servers, 0);
  const placed = groups.map(placeGroup);
  let y = serverHeight + layerGap;
  for (const row of intoRows(placed)) {
    centre(row, y);
    y += Math.max(...row.map((group) => group.box.height)) + gap * 2;
  }
  return { nameServers: servers, groups: placed, links: linksOf(nameServers, groups) };
}

function linksOf(nameServers: NameServerView[], groups: GroupView[]) {
  const routes = nameServers.flatMap((server) =>
    groups.map((group) => ({
      from: nodeId.nameServer(server.address),
      to: nodeId.group(group.id),
      alive: group.brokers.some(isOnline),
    })),
  );
  const replication = groups.flatMap((group) => {
    const master = group.brokers.find((broker) => broker.role === 'MASTER');
    if (!master) return [];
    return group.brokers
      .filter((broker) => broker.role === 'REPLICA')
      .map((replica) => ({
        from: nodeId.broker(master.id),
        to: nodeId.broker(replica.id),
        alive: isOnline(master) && isOnline(replica),
      }));
  });
  return [...routes, ...replication];
}
