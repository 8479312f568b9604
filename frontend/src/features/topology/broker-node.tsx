import { IconCrown } from '@tabler/icons-react';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { useTranslation } from 'react-i18next';
import { LastHeard } from '@/components/last-heard';
import { StateMark } from '@/components/state-mark';
import { BrokerRates } from './broker-rates';
import { type BrokerView, isOnline } from './broker-view';
import classes from './topology-node.module.css';

/** A broker in the picture: crown for the master, state, address and live rates, or since when it is gone. */
export function BrokerNode({ data }: NodeProps<Node<{ broker: BrokerView }>>) {
  const { t } = useTranslation();
  const { broker } = data;
  const online = isOnline(broker);
  return (
    <div className={classes.node} data-lost={!online}>
      <Handle type="target" position={Position.Top} />
      <div className={classes.head}>
        {broker.role === 'MASTER' ? (
          <IconCrown size={14} stroke={1.8} className={classes.crown} aria-hidden />
        ) : null}
        <strong>
          {t('topology.broker', {
            role: broker.isActing ? t('topology.acting') : t(`role.${broker.role}`),
            name: broker.name,
          })}
        </strong>
        <span className={classes.state}>
          <StateMark tone={online ? 'good' : 'bad'} label={t(`brokerState.${broker.state}`)} />
        </span>
      </div>
      <code className={classes.address}>{broker.address}</code>
      {online ? (
        <BrokerRates broker={broker} />
      ) : (
        <div className={classes.rates}>
          <LastHeard at={broker.lastHeartbeatAt} />
        </div>
      )}
      <Handle type="source" position={Position.Bottom} />
    </div>
  );
}
