import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
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
  const word = steering === 'CANCEL' && operation.state === 'PLANNED' ? 'DISCARD' : steering;
  return (
    <Button variant="default" disabled={isBusy} onClick={() => onSteer(steering)}>
      {t(`steering.${word}`)}
    </Button>
  );
}
