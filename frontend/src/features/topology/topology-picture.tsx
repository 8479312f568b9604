import { useComputedColorScheme } from '@mantine/core';
import { Controls, type Edge, type Node, ReactFlow } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { BrokerNode } from './broker-node';
import type { BrokerView, GroupView, NameServerView } from './broker-view';
import { GroupNode } from './group-node';
import { NameServerNode } from './name-server-node';
import { type Box, layOut, nodeId, type PlacedTopology } from './topology-layout';
import classes from './topology-picture.module.css';

const nodeTypes = { nameServer: NameServerNode, brokerGroup: GroupNode, broker: BrokerNode };

function nodeOf(id: string, type: string, box: Box, data: Record<string, unknown>): Node {
  const { x, y, width, height } = box;
  return { id, type, position: { x, y }, width, height, data, draggable: false, focusable: false };
}

function brokerNode(broker: BrokerView, place: Box, group: GroupView): Node {
  const node = nodeOf(nodeId.broker(broker.id), 'broker', place, { broker });
  return { ...node, parentId: nodeId.group(group.id) };
}

function nodesOf(placed: PlacedTopology): Node[] {
  const servers = placed.nameServers.map(({ server, box }) =>
    nodeOf(nodeId.nameServer(server.address), 'nameServer', box, { server }),
  );
  const groups = placed.groups.flatMap(({ group, box, brokers }) => [
    nodeOf(nodeId.group(group.id), 'brokerGroup', box, { group }),
    ...group.brokers.flatMap((broker) => {
      const place = brokers.get(broker.id);
      return place ? [brokerNode(broker, place, group)] : [];
    }),
  ]);
  return [...servers, ...groups];
}

function edgesOf(placed: PlacedTopology): Edge[] {
  return placed.links.map(({ from, to, alive }) => ({
    id: `${from}>${to}`,
    source: from,
    target: to,
    type: 'smoothstep',
    focusable: false,
    className: alive ? classes.alive : classes.lost,
  }));
}

type TopologyPictureProps = { nameServers: NameServerView[]; groups: GroupView[] };

/** The cluster as a layered picture; the tables beneath say the same in words. */
export function TopologyPicture({ nameServers, groups }: TopologyPictureProps) {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme();
  const placed = useMemo(() => layOut(nameServers, groups), [nameServers, groups]);
  const nodes = useMemo(() => nodesOf(placed), [placed]);
  const edges = useMemo(() => edgesOf(placed), [placed]);
  return (
    <figure className={classes.picture} aria-label={t('topology.pictureLabel')}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        colorMode={scheme}
        fitView
        fitViewOptions={{ padding: 0.08, maxZoom: 1 }}
        minZoom={0.15}
        maxZoom={1.5}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        preventScrolling={false}
        zoomOnScroll={false}
      >
        <Controls position="top-left" showInteractive={false} aria-label={t('topology.zoom')} />
      </ReactFlow>
    </figure>
  );
}
