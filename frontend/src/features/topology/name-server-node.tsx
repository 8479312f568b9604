import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { useTranslation } from 'react-i18next';
import { formatInt64 } from '@/lib/format';
import type { NameServerView } from './broker-view';
import classes from './topology-node.module.css';

/** A name server in the picture, with the version of the routes it answers. */
export function NameServerNode({ data }: NodeProps<Node<{ server: NameServerView }>>) {
  const { t } = useTranslation();
  const { server } = data;
  return (
    <div className={classes.node}>
      <div className={classes.head}>
        <strong>{t('topology.nameServer')}</strong>
        <span className={classes.state}>
          {t('topology.routeVersion', { version: formatInt64(server.routeVersion) })}
        </span>
      </div>
      <code className={classes.address}>{server.address}</code>
      <Handle type="source" position={Position.Bottom} />
    </div>
  );
}
