import { useTranslation } from 'react-i18next';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { Figure } from '@/components/figure';
import { LastHeard } from '@/components/last-heard';
import { Observed } from '@/components/observed';
import { ProtectionFact } from '@/components/protection-fact';
import { StateMark } from '@/components/state-mark';
import type { SampleFieldsFragment } from '@/gql/operations';
import { formatBytes, formatCount, formatPercent, formatRate } from '@/lib/format';
import { readingOf } from '@/lib/reading';
import type { Broker } from './broker';

type BrokerFactsProps = {
  broker: Broker;
  sample: SampleFieldsFragment | null;
  isCordoned: boolean | undefined;
};

type Replica = NonNullable<Broker['replica']>;

function setWord({ isInSync, isAlive }: Replica): 'inSync' | 'inSyncDead' | 'outOfSync' {
  if (!isInSync) return 'outOfSync';
  return isAlive ? 'inSync' : 'inSyncDead';
}

/** What a broker is, in which epoch, what it may do, and how full its disk is. */
export function BrokerFacts({ broker, sample, isCordoned }: BrokerFactsProps) {
  const { t } = useTranslation();
  const { replica } = broker;
  const observed = sample ? <Observed atMs={Date.parse(sample.observedAt)} /> : null;
  const used = readingOf(sample, ({ diskTotalBytes, diskFreeBytes }) => {
    const total = Number(diskTotalBytes);
    return total > 0 ? 1 - Number(diskFreeBytes) / total : null;
  });
  return (
    <Facts>
      <Fact label={t('brokers.role')} foot={<code>{broker.address}</code>}>
        {t(`role.${broker.role}`)}
      </Fact>
      <Fact
        label={t('brokers.state')}
        foot={<LastHeard at={broker.lastHeartbeatAt} isAlive={broker.state === 'ONLINE'} />}
      >
        <StateMark
          tone={broker.state === 'ONLINE' ? 'good' : 'bad'}
          label={t(`brokerState.${broker.state}`)}
        />
      </Fact>
      <Fact
        label={t('broker.epoch')}
        foot={replica ? t('broker.replica', { id: replica.brokerId }) : t('broker.noController')}
      >
        {replica ? (
          <Figure reading={readingOf(replica, ({ epoch }) => epoch)} format={formatCount} />
        ) : (
          t('broker.none')
        )}
      </Fact>
      {replica ? (
        <Fact label={t('broker.set')}>
          <StateMark
            tone={setWord(replica) === 'inSync' ? 'good' : 'warn'}
            label={t(`broker.${setWord(replica)}`)}
          />
        </Fact>
      ) : null}
      <Fact label={t('broker.permission')}>
        {isCordoned === undefined ? (
          <Figure reading={{ kind: 'unknown' }} format={String} />
        ) : (
          <StateMark
            tone={isCordoned ? 'warn' : 'good'}
            label={t(isCordoned ? 'broker.cordoned' : 'broker.writable')}
          />
        )}
      </Fact>
      <ProtectionFact protection={broker.protection} />
      <Fact label={t('brokers.disk')} foot={observed}>
        <Figure reading={used} format={formatPercent} />
      </Fact>
      <Fact label={t('brokers.storeBytes')} foot={observed}>
        <Figure reading={readingOf(sample, ({ storeBytes }) => storeBytes)} format={formatBytes} />
      </Fact>
      <Fact label={t('brokers.residentBytes')} foot={observed}>
        <Figure
          reading={readingOf(sample, ({ residentBytes }) => residentBytes)}
          format={formatBytes}
        />
      </Fact>
      <Fact label={t('overview.messagesIn')} foot={observed}>
        <Figure
          reading={readingOf(sample, ({ messagesInPerSecond }) => messagesInPerSecond)}
          format={formatRate}
          unit={t('unit.perSecond')}
        />
      </Fact>
    </Facts>
  );
}
