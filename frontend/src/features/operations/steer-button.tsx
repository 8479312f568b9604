import { useTranslation } from 'react-i18next';
import { useIsBeyondRisk } from '@/components/permissions';
import { WriteButton } from '@/components/write-button';
import type { Operation, Steering } from './operation';

type SteerButtonProps = {
  operation: Operation;
  steering: Steering;
  isBusy: boolean;
  onSteer: (steering: Steering) => void;
};

/** Pauses, resumes, cancels, retries, takes back or plans again. */
export function SteerButton({ operation, steering, isBusy, onSteer }: SteerButtonProps) {
  const { t } = useTranslation();
  const isBeyond = useIsBeyondRisk(operation.plan.risk);
  const refusal =
    isBeyond && (steering === 'RESUME' || steering === 'RETRY') ? t('refused.risk') : undefined;
  const word = steering === 'CANCEL' && operation.state === 'PLANNED' ? 'DISCARD' : steering;
  return (
    <WriteButton
      variant="default"
      disabled={isBusy}
      refusal={refusal}
      onClick={() => onSteer(steering)}
    >
      {t(`steering.${word}`)}
    </WriteButton>
  );
}
