import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { type GroupMember, phaseTones } from './group-member';

/** What a broker does in its group, in a word. */
export function PhaseMark({ phase }: { phase: GroupMember['phase'] }) {
  const { t } = useTranslation();
  return <StateMark tone={phaseTones[phase]} label={t(`memberPhase.${phase}`)} />;
}
