import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { Lock } from './lock';
import classes from './lock-actions.module.css';

export type LockDeeds = {
  isBusy: boolean;
  onRelease: (lock: Lock) => void;
  onReleaseAll: (lock: Lock) => void;
  onExplain: (lock: Lock) => void;
};

type LockActionsProps = LockDeeds & { lock: Lock };

/** Asks why the queue stands still, or plans to release this lock or all of its client. */
export function LockActions({
  lock,
  isBusy,
  onRelease,
  onReleaseAll,
  onExplain,
}: LockActionsProps) {
  const { t } = useTranslation();
  const values = { queue: `${lock.topic}/${lock.queueId}`, client: lock.clientId };
  const deeds = [
    ['why', onExplain, false, 'read'],
    ['release', onRelease, isBusy, 'change'],
    ['releaseAll', onReleaseAll, isBusy, 'change'],
  ] as const;
  return (
    <span className={classes.actions}>
      {deeds.map(([word, act, isDisabled, needs]) => (
        <WriteButton
          key={word}
          needs={needs}
          size="compact-xs"
          variant="default"
          disabled={isDisabled}
          aria-label={t(`locks.${word}Label`, values)}
          onClick={() => act(lock)}
        >
          {t(`locks.${word}`)}
        </WriteButton>
      ))}
    </span>
  );
}
