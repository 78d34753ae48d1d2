SELECT count()
/*where*/
