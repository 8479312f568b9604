import type { TFunction } from 'i18next';
import { BrokerLink } from '@/components/broker-link';
import { LastHeard } from '@/components/last-heard';
import { Observed } from '@/components/observed';
import { ReplicaGroupLink } from '@/components/replica-group-link';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import { formatBytes, formatRate } from '@/lib/format';
import { readingOf, sortKeyOf } from '@/lib/reading';
import { type BrokerView, diskUsed, isOnline } from './broker-view';
import { DiskFigure } from './disk-figure';
import { SampleFigure } from './sample-figure';

const column = columnsFor<BrokerView>();

type Pick = Parameters<typeof SampleFigure>[0]['pick'];

const rates: [id: string, pick: Pick][] = [
  ['messagesIn', (sample) => sample.messagesInPerSecond],
  ['messagesOut', (sample) => sample.messagesOutPerSecond],
];
const rateBytes: [id: string, pick: Pick][] = [
  ['bytesIn', (sample) => sample.bytesInPerSecond],
  ['bytesOut', (sample) => sample.bytesOutPerSecond],
];
const sizes: [id: string, pick: Pick][] = [['storeBytes', (sample) => Number(sample.storeBytes)]];
const spareSizes: [id: string, pick: Pick][] = [
  ['residentBytes', (sample) => Number(sample.residentBytes)],
];

export function brokerColumns(t: TFunction) {
  const figures = (list: [string, Pick][], format: (value: number) => string, spare = false) =>
    list.map(([id, pick]) =>
      column.accessor((broker) => sortKeyOf(readingOf(broker.sample, pick)), {
        id,
        header: t(`brokers.${id}`),
        sortUndefined: 'last',
        sortFn: 'basic',
        meta: { align: 'right', spare },
        cell: ({ row }) => <SampleFigure broker={row.original} pick={pick} format={format} />,
      }),
    );
  return column.columns([
    column.accessor('brokerGroupName', {
      id: 'group',
      header: t('brokers.group'),
      sortFn: 'alphanumeric',
      cell: ({ row }) => (
        <strong>
          <ReplicaGroupLink brokerGroupName={row.original.brokerGroupName} />
        </strong>
      ),
    }),
    column.accessor('name', {
      id: 'broker',
      header: t('brokers.name'),
      sortFn: 'alphanumeric',
      cell: ({ row }) => <BrokerLink name={row.original.name} />,
    }),
    column.accessor('role', {
      id: 'role',
      header: t('brokers.role'),
      sortFn: 'basic',
      cell: ({ row: { original } }) =>
        original.isActing ? (
          <StateMark tone="warn" label={t('role.acting')} />
        ) : (
          t(`role.${original.role}`)
        ),
    }),
    column.accessor('state', {
      id: 'state',
      header: t('brokers.state'),
      sortFn: 'basic',
      cell: ({ row: { original } }) =>
        isOnline(original) ? (
          <StateMark tone="good" label={t('brokerState.ONLINE')} />
        ) : (
          <>
            <StateMark tone="bad" label={t('brokerState.OFFLINE')} />
            <div>
              <LastHeard at={original.lastHeartbeatAt} brief />
            </div>
          </>
        ),
    }),
    column.accessor('address', {
      id: 'address',
      header: t('brokers.address'),
      sortFn: 'alphanumeric',
      cell: ({ row }) => <code>{row.original.address}</code>,
    }),
    ...figures(rates, formatRate),
    ...figures(rateBytes, formatBytes),
    column.accessor((broker) => diskUsed(broker.sample) ?? undefined, {
      id: 'disk',
      header: t('brokers.disk'),
      sortUndefined: 'last',
      sortFn: 'basic',
      cell: ({ row }) => <DiskFigure sample={row.original.sample} />,
    }),
    ...figures(sizes, formatBytes),
    ...figures(spareSizes, formatBytes, true),
    column.accessor((broker) => broker.sample?.observedAt, {
      id: 'observed',
      header: t('brokers.observed'),
      sortUndefined: 'last',
      sortFn: 'basic',
      cell: ({ row }) =>
        row.original.sample ? (
          <Observed bare atMs={Date.parse(row.original.sample.observedAt)} />
        ) : (
          t('figure.notCollected')
        ),
    }),
  ]);
}
