import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { useTranslation } from 'react-i18next';
import { ReplicaGroupLink } from '@/components/replica-group-link';
import { type GroupView, hasOnlineMaster } from './broker-view';
import classes from './topology-node.module.css';

/** The frame around the brokers of one group. */
export function GroupNode({ data }: NodeProps<Node<{ group: GroupView }>>) {
  const { t } = useTranslation();
  const { group } = data;
  const masterless = !hasOnlineMaster(group);
  return (
    <div className={classes.group} data-lost={masterless}>
      <Handle type="target" position={Position.Top} />
      <div className={classes.brokerGroupName}>
        <span className={classes.groupLink}>
          <ReplicaGroupLink brokerGroupName={group.name} />
        </span>
        {masterless ? <span className={classes.warning}> · {t('topology.noMaster')}</span> : null}
      </div>
    </div>
  );
}
