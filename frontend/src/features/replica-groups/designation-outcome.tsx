import { useTranslation } from 'react-i18next';
import { Advice } from '@/components/advice';
import { StateMark, type StateTone } from '@/components/state-mark';
import { formatCount, formatSeconds } from '@/lib/format';
import { type Election, type Outcome, outcomeOf, type ReplicaGroup } from './replica-group';

type DesignationOutcomeProps = { brokerId: string; group: ReplicaGroup; election: Election };

const tones: Record<Outcome['kind'], StateTone> = {
  stays: 'idle',
  wins: 'good',
  waits: 'warn',
  unclean: 'bad',
  none: 'bad',
};

/** What an order to make this replica master would do, or why it would be refused. */
export function DesignationOutcome({ brokerId, group, election }: DesignationOutcomeProps) {
  const { t } = useTranslation();
  const { kind } = outcomeOf(election, group);
  const reason = election.candidates.find((one) => one.brokerId === brokerId)?.reason;
  const label = t(`designation.${kind}`, {
    id: brokerId,
    epoch: formatCount(group.masterEpoch + 1),
    setEpoch: formatCount(group.syncStateSetEpoch + 1),
    span: formatSeconds(Number(election.awaitsLeaseMs)),
    reason,
  });
  const { warning } = election;
  return (
    <>
      <StateMark tone={tones[kind]} label={label} wraps />
      {warning === null ? null : (
        <div>
          <StateMark tone="warn" label={<Advice>{warning}</Advice>} wraps />
        </div>
      )}
    </>
  );
}
