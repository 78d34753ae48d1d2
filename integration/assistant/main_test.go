package assistant_test

import (
	"testing"

	"adlens/integration/house"
)

func TestMain(m *testing.M) { house.Main(m) }
