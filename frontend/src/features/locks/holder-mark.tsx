import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { holderTone, type Lock } from './lock';

/** Whether the holder of a lock is still a member of its group on that broker. */
export function HolderMark({ lock }: { lock: Lock }) {
  const { t } = useTranslation();
  return <StateMark tone={holderTone(lock.holder)} label={t(`lockHolder.${lock.holder}`)} />;
}
