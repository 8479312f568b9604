import type { TFunction } from 'i18next';
import { Figure } from '@/components/figure';
import { LastHeard } from '@/components/last-heard';
import { StateMark, type StateTone } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import type { ElectionVerdict } from '@/gql/operations';
import { formatInt64 } from '@/lib/format';
import { notCollected, unknown } from '@/lib/reading';
import { GapFigure } from './gap-figure';
import type { Election, Replica, ReplicaGroup } from './replica-group';
import { ReplicaId } from './replica-id';

const column = columnsFor<Replica>();

/** Why a figure is missing: the replica was never heard, or did not report the figure. */
function absent(replica: Replica) {
  const reading = replica.lastHeartbeatAt === null ? notCollected : unknown;
  return <Figure reading={reading} format={String} />;
}

function verdictTone(verdict: ElectionVerdict): StateTone {
  return verdict === 'WINS' || verdict === 'STAYS' ? 'good' : 'idle';
}

function verdictWord(verdict: ElectionVerdict): 'stays' | 'yes' | 'no' {
  if (verdict === 'STAYS') return 'stays';
  return verdict === 'WINS' ? 'yes' : 'no';
}

export function replicaColumns(t: TFunction, group: ReplicaGroup, election: Election) {
  return column.columns([
    column.accessor('brokerId', {
      header: t('replicas.id'),
      cell: ({ row }) => <ReplicaId replica={row.original} />,
    }),
    column.accessor('address', {
      header: t('replicas.address'),
      cell: ({ row }) => <code>{row.original.address}</code>,
    }),
    column.display({
      id: 'isAlive',
      header: t('replicas.isAlive'),
      cell: ({ row: { original } }) => (
        <>
          <StateMark
            tone={original.isAlive ? 'good' : 'bad'}
            label={t(original.isAlive ? 'replicas.alive' : 'replicas.dead')}
          />
          {original.isCordoned ? (
            <div>
              <StateMark tone="warn" label={t('replicas.cordoned')} />
            </div>
          ) : null}
        </>
      ),
    }),
    column.display({
      id: 'isInSync',
      header: t('replicas.isInSync'),
      cell: ({ row: { original } }) => (
        <StateMark
          tone={original.isInSync && original.isAlive ? 'good' : 'idle'}
          label={t(original.isInSync ? 'replicas.in' : 'replicas.out')}
        />
      ),
    }),
    column.display({
      id: 'end',
      header: t('replicas.end'),
      meta: { align: 'right' },
      cell: ({ row }) =>
        row.original.maxOffset === null
          ? absent(row.original)
          : formatInt64(row.original.maxOffset),
    }),
    column.display({
      id: 'gap',
      header: t('replicas.gap'),
      meta: { align: 'right' },
      cell: ({ row }) =>
        row.original.isMaster ? '–' : <GapFigure replica={row.original} group={group} />,
    }),
    column.display({
      id: 'heard',
      header: t('replicas.heard'),
      cell: ({ row: { original } }) => (
        <LastHeard at={original.lastHeartbeatAt} isAlive={original.isAlive} />
      ),
    }),
    column.display({
      id: 'verified',
      header: t('replicas.verified'),
      cell: ({ row }) =>
        row.original.isVerified === null
          ? absent(row.original)
          : t(row.original.isVerified ? 'word.yes' : 'word.no'),
    }),
    column.display({
      id: 'version',
      header: t('replicas.version'),
      meta: { align: 'right' },
      cell: ({ row }) => row.original.protocolVersion ?? '–',
    }),
    column.display({
      id: 'verdict',
      header: t('replicas.verdict'),
      meta: { width: '34%' },
      cell: ({ row }) => {
        const one = election.candidates.find(({ brokerId }) => brokerId === row.original.brokerId);
        if (!one) return absent(row.original);
        const label = t(`replicas.${verdictWord(one.verdict)}`, { reason: one.reason });
        return <StateMark tone={verdictTone(one.verdict)} label={label} wraps />;
      },
    }),
  ]);
}
