import { useTranslation } from 'react-i18next';
import { StateMark, type StateTone } from '@/components/state-mark';
import { formatCount, formatSeconds } from '@/lib/format';
import {
  type Election,
  type Outcome,
  outcomeOf,
  type ReplicaGroup,
  reasonsOf,
} from './replica-group';

type DecisionProps = { group: ReplicaGroup; election: Election; isHealthy: boolean };

const tones: Record<Outcome['kind'], StateTone> = {
  stays: 'good',
  wins: 'warn',
  waits: 'warn',
  unclean: 'bad',
  none: 'bad',
};

/** What the controller would do if it were asked now; that alone makes no group a good one. */
export function Decision({ group, election, isHealthy }: DecisionProps) {
  const { t } = useTranslation();
  const { kind, winnerId } = outcomeOf(election, group);
  const label = t(`decision.${kind}`, {
    id: winnerId,
    epoch: formatCount(group.masterEpoch + 1),
    span: formatSeconds(Number(election.awaitsLeaseMs)),
    reasons: reasonsOf(election),
  });
  const tone = kind === 'stays' && !isHealthy ? 'idle' : tones[kind];
  return <StateMark tone={tone} label={label} wraps />;
}
