import { IconCrown } from '@tabler/icons-react';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { formatRate } from '@/lib/format';
import { type BrokerView, isOnline } from './broker-view';
import { SampleFigure } from './sample-figure';
import classes from './topology-node.module.css';

/** A broker in the picture: crown for the master, state, address and live rates. */
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
          {t('topology.broker', { role: t(`role.${broker.role}`), id: broker.brokerId })}
        </strong>
        <span className={classes.state}>
          <StateMark tone={online ? 'good' : 'bad'} label={t(`brokerState.${broker.state}`)} />
        </span>
      </div>
      <code className={classes.address}>{broker.address}</code>
      <div className={classes.rates}>
        {t('topology.in')}{' '}
        <SampleFigure
          broker={broker}
          pick={(sample) => sample.messagesInPerSecond}
          format={formatRate}
        />
        <span className={classes.apart}>{t('topology.out')} </span>
        <SampleFigure
          broker={broker}
          pick={(sample) => sample.messagesOutPerSecond}
          format={formatRate}
        />
      </div>
      <Handle type="source" position={Position.Bottom} />
    </div>
  );
}
