import { useTranslation } from 'react-i18next';
import { StateMark, type StateTone } from '@/components/state-mark';
import { type MasterState, masterState, type ReplicaGroup } from './replica-group';

const tones: Record<MasterState, StateTone> = { leads: 'good', lost: 'bad', none: 'warn' };

/** Who is recorded as master of a group, and whether it leads. */
export function MasterMark({ group }: { group: ReplicaGroup }) {
  const { t } = useTranslation();
  const state = masterState(group);
  return <StateMark tone={tones[state]} label={t(`master.${state}`, { id: group.masterId })} />;
}
